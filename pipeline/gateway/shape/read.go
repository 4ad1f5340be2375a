package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// ReadTool is the name of the tool that reads on in a result.
const ReadTool = "result_read"

// The lengths, in code points, that ReadTool returns at once.
const (
	DefaultLength = 4_000
	LengthMax     = 100_000
)

// readArguments are those of ReadTool.
type readArguments struct {
	Handle  string  `json:"handle"`
	Offset  int     `json:"offset"`
	Length  *int    `json:"length"`
	Pointer *string `json:"pointer"`
}

// Call carries out ReadTool. What it returns ends with a line that says where to go
// on, unless it ends with the result. The error is for the model to read.
func (s *Store) Call(owner string, args json.RawMessage) (string, error) {
	in, err := parseRead(args)
	if err != nil {
		return "", err
	}
	text, err := s.whole(owner, in.Handle)
	if err != nil {
		return "", err
	}
	if in.Pointer != nil {
		if text, err = resolve(text, *in.Pointer); err != nil {
			return "", err
		}
	}
	length := DefaultLength
	if in.Length != nil {
		length = *in.Length
	}
	piece, total, err := slice(text, in.Offset, length)
	if err != nil {
		return "", err
	}
	if end := in.Offset + length; end < total {
		piece += fmt.Sprintf("\n[%d to %d of %d code points; next offset %d]", in.Offset, end, total, end)
	}
	return piece, nil
}

func parseRead(args json.RawMessage) (readArguments, error) {
	var in readArguments
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	err := d.Decode(&in)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
		}
	}
	switch {
	case err != nil:
		return in, fmt.Errorf("the arguments of %s: %w\nhint: give {\"handle\": …} and offset, length or pointer", ReadTool, err)
	case in.Handle == "":
		return in, fmt.Errorf("handle is missing\nhint: a truncated result names it")
	case in.Length != nil && (*in.Length < 1 || *in.Length > LengthMax):
		return in, fmt.Errorf("length %d is not within 1 and %d\nhint: leave it out for %d code points, and read on from the next offset", *in.Length, LengthMax, DefaultLength)
	}
	return in, nil
}

// resolve returns the value that a pointer names in a JSON text, in compact form.
func resolve(text, pointer string) (string, error) {
	if pointer == "" {
		return text, nil
	}
	if pointer[0] != '/' {
		return "", fmt.Errorf("pointer %q does not begin with /\nhint: write it as in /items/12", shown(pointer))
	}
	if !json.Valid([]byte(text)) {
		return "", errors.New("pointer: the result is not JSON\nhint: read it by offset and length")
	}
	value := json.RawMessage(text)
	done := ""
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		next, has, ok := step(value, token)
		if !ok {
			return "", fmt.Errorf("pointer %q: %q is %s, and has no %q\nhint: point at %q for all of it", shown(pointer), shown(done), has, shown(token), shown(done))
		}
		value = next
		done += "/" + token
	}
	return string(value), nil
}

// step goes from a value to a member or an element, or says what the value is.
func step(value json.RawMessage, token string) (next json.RawMessage, is string, ok bool) {
	switch is = rawjson.Kind(value); is {
	case "object":
		fields, err := rawjson.Object(value)
		if err != nil {
			return nil, is, false
		}
		next, ok = rawjson.Get(fields, token)
		return next, is, ok
	case "array":
		elements, err := rawjson.Array(value)
		is = fmt.Sprintf("array of %d elements", len(elements))
		i, notNumber := strconv.Atoi(token)
		if err != nil || notNumber != nil || i < 0 || i >= len(elements) || strconv.Itoa(i) != token {
			return nil, is, false
		}
		return elements[i], is, true
	}
	return nil, is, false
}
