package redact

import (
	"encoding/base64"
	"strings"
)

// prefix is how credentials of one issuer begin.
type prefix struct {
	text string
	min  int // bytes that follow
	// digit: one of what follows is a digit, since the prefix begins plain words too
	digit bool
}

// lookMax bounds how far a credential is looked at before it is known to be one.
const lookMax = 256

// prefixes lists those of credentials by their first byte. They are as their issuers
// document them, or their secret scanners do.
var prefixes = byFirst([]prefix{
	{"sk-", 16, true}, {"sk_live_", 10, false}, {"sk_test_", 10, false}, {"rk_live_", 10, false}, {"rk_test_", 10, false},
	{"ghp_", 16, false}, {"gho_", 16, false}, {"ghu_", 16, false}, {"ghs_", 16, false}, {"ghr_", 16, false}, {"github_pat_", 16, false},
	{"glpat-", 16, false}, {"gldt-", 16, false}, {"glrt-", 16, false}, {"glptt-", 16, false},
	{"xoxb-", 10, false}, {"xoxa-", 10, false}, {"xoxp-", 10, false}, {"xoxr-", 10, false}, {"xoxs-", 10, false}, {"xoxe-", 10, false},
	{"xapp-", 10, false}, {"AKIA", 16, false}, {"ASIA", 16, false}, {"AIza", 30, false}, {"ya29.", 16, false},
	{"npm_", 20, false}, {"hf_", 20, false}, {"pypi-", 40, true}, {"dop_v1_", 32, false}, {"SG.", 40, false},
	{"shpat_", 20, false}, {"shpss_", 20, false}, {"shpca_", 20, false}, {"dckr_pat_", 16, false}, {"lin_api_", 20, false},
	{"figd_", 20, false}, {"glsa_", 20, false}, {"r8_", 30, false}, {"gsk_", 20, true}, {"xai-", 30, false}, {"pplx-", 30, false},
	{"tvly-", 16, true}, {"whsec_", 16, false}, {"rubygems_", 32, false}, {"AGE-SECRET-KEY-1", 40, false}, {"ntn_", 30, false},
	{"nvapi-", 30, false}, {"sntrys_", 30, false}, {"hvs.", 20, false}, {"dapi", 32, true}, {"ATATT3", 30, false},
})

func byFirst(list []prefix) (by [256][]prefix) {
	for _, p := range list {
		by[p.text[0]] = append(by[p.text[0]], p)
	}
	return by
}

// second has, for each first byte of a credential, a bit for each second one, by its
// lowest five bits: the look that most words fail.
var second = func() (bits [256]uint32) {
	for first, list := range prefixes {
		for _, p := range list {
			bits[first] |= 1 << (p.text[1] & 31)
		}
	}
	bits['e'] |= 1 << ('y' & 31)
	for _, c := range []byte("bB") {
		bits[c] |= 1<<('e'&31) | 1<<('a'&31) // bearer, basic
	}
	return bits
}()

// mayBeCredential reports whether a word that starts at i is worth a look.
func mayBeCredential(text string, i int) bool {
	return i+1 < len(text) && second[text[i]]>>(text[i+1]&31)&1 != 0
}

// credential returns the span of what has the form of a credential, where text[i]
// begins a word.
func credential(text string, i int) (start, end int, ok bool) {
	for _, p := range prefixes[text[i]] {
		if !strings.HasPrefix(text[i:], p.text) {
			continue
		}
		body := i + len(p.text)
		end, digit := runOf(text, body)
		if end-body >= p.min && (digit || !p.digit) {
			return i, tokenEnd(text, end), true
		}
	}
	switch text[i] {
	case 'e':
		return webToken(text, i)
	case 'b', 'B':
		return scheme(text, i)
	}
	return 0, 0, false
}

// runOf returns the end of a run of the bytes of tokens, at most lookMax on, and
// whether a digit is in it.
func runOf(text string, i int) (end int, digit bool) {
	limit := min(len(text), i+lookMax)
	for ; i < limit && isToken[text[i]]; i++ {
		digit = digit || '0' <= text[i] && text[i] <= '9'
	}
	return i, digit
}

// tokenEnd is the end of the run of token bytes at i, without a full stop that ends
// a sentence.
func tokenEnd(text string, i int) int {
	for i < len(text) && isToken[text[i]] {
		i++
	}
	for i > 0 && text[i-1] == '.' {
		i--
	}
	return i
}

// isToken are the bytes of credentials: base64 in either alphabet, and full stops.
var isToken = func() (in [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=") {
		in[c] = true
	}
	return in
}()

// webToken finds a JSON web token: the base64 of {" and a full stop behind the first
// part. What is as long and has no full stop is one that was cut.
func webToken(text string, i int) (start, end int, ok bool) {
	if !strings.HasPrefix(text[i:], "eyJ") {
		return 0, 0, false
	}
	end, _ = runOf(text, i)
	dot := strings.IndexByte(text[i:end], '.')
	if end-i < lookMax && (dot < 10 || end-i < dot+10) {
		return 0, 0, false
	}
	return i, tokenEnd(text, end), true
}

// scheme finds the credentials behind the words Bearer and Basic, in any case.
func scheme(text string, i int) (start, end int, ok bool) {
	const bearer, basic = "bearer", "basic"
	var word string
	switch {
	case hasPrefixFold(text[i:], bearer):
		word = bearer
	case hasPrefixFold(text[i:], basic):
		word = basic
	default:
		return 0, 0, false
	}
	start = i + len(word)
	gap := start
	for start < len(text) && start < gap+8 && (text[start] == ' ' || text[start] == '\t' || text[start] == '+') {
		start++
	}
	if strings.HasPrefix(text[start:], "%20") {
		start += len("%20")
	}
	if start == gap {
		return 0, 0, false
	}
	end = tokenEnd(text, start)
	value := text[start:end]
	if len(value) < 6 {
		return 0, 0, false
	}
	if word == basic {
		return start, end, isUserInfo(value)
	}
	return start, end, len(value) > 20 || !isLowerWord(value)
}

// isUserInfo reports whether a text is the base64 of user:password.
func isUserInfo(value string) bool {
	if len(value) > 4*lookMax {
		return true
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	return err == nil && strings.IndexByte(string(decoded), ':') >= 0
}

// hasPrefixFold is strings.HasPrefix for a prefix in lower case, whatever the case
// of the text's ASCII letters.
func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

func isLowerWord(text string) bool {
	for i := range len(text) {
		if text[i] < 'a' || text[i] > 'z' {
			return false
		}
	}
	return true
}
