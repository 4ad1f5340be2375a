package mcpserver

import "bytes"

// withoutComments puts spaces in place of comments and of commas behind the last
// element, which editors allow in a configuration. Every other byte keeps its
// place, so that errors name the line and column of the file.
func withoutComments(data []byte) []byte {
	out := append([]byte(nil), data...)
	comma := -1 // where a comma stands with nothing but space behind it
	for i := 0; i < len(out); {
		end, blank := i+1, false
		switch c := out[i]; {
		case c == '"':
			end = textEnd(out, i)
		case c == '/' && i+1 < len(out) && out[i+1] == '/':
			end, blank = commentEnd(out, i, "\n"), true
		case c == '/' && i+1 < len(out) && out[i+1] == '*':
			end, blank = commentEnd(out, i, "*/"), true
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			blank = true
		case (c == '}' || c == ']') && comma >= 0:
			out[comma] = ' '
		}
		if !blank {
			comma = -1
			if out[i] == ',' {
				comma = i
			}
		}
		for ; blank && i < end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
		i = end
	}
	return out
}

// textEnd returns where the text that begins at i ends.
func textEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// commentEnd returns where the comment that begins at i ends.
func commentEnd(data []byte, i int, mark string) int {
	if n := bytes.Index(data[i+2:], []byte(mark)); n >= 0 {
		return i + 2 + n + len(mark)
	}
	return len(data)
}
