package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// naming says what a name tells of its value.
type naming int

const (
	harmless naming = iota
	bareKey         // the name key alone: a credential, or the key of a pair
	wary            // a word that is also in plain use: token, pass
	secret
	header // a header field whose whole line is secret
)

// nameMax bounds the length of a name, in bytes, that stands in a text. What is
// longer counts by its end.
const nameMax = 100

// name judges the name of a member, a parameter, a variable or a header field.
func (r *Redactor) name(name string) naming {
	if r.keys != nil && r.keys[squash(name)] {
		return secret
	}
	if !suspicious(name) {
		return harmless
	}
	// A name in mixed case may be a secret's without its capitals (pAsSwOrD) or by
	// them (dbPassword).
	found := judgeWords(words(name, true))
	if lower := strings.ToLower(name); lower != name {
		found = max(found, judgeWords(words(lower, false)))
	}
	return found
}

// suspicious is the quick look: whether a part of a secret's name is in it at all.
func suspicious(name string) bool {
	for i := 0; i+2 < len(name); i++ {
		a, b, c := name[i]|0x20, name[i+1]|0x20, name[i+2]|0x20
		switch a {
		case 'p':
			if b == 'a' && c == 's' || b == 'w' && c == 'd' {
				return true
			}
		case 's':
			if b == 'e' && c == 'c' {
				return true
			}
		case 't':
			if b == 'o' && c == 'k' {
				return true
			}
		case 'k':
			if b == 'e' && c == 'y' {
				return true
			}
		case 'a':
			if b == 'u' && c == 't' {
				return true
			}
		case 'c':
			if b == 'o' && c == 'o' || b == 'r' && c == 'e' {
				return true
			}
		case 'b':
			if b == 'e' && c == 'a' {
				return true
			}
		case 'j':
			if b == 'w' && c == 't' {
				return true
			}
		}
	}
	return false
}

// words splits a name at what is no letter, and with humps also before the capitals
// of camelCase. The words are in lower case; digits separate.
func words(name string, humps bool) []string {
	list := make([]string, 0, 4)
	start := -1
	var before rune
	for i, c := range name {
		letter := unicode.IsLetter(c)
		if start >= 0 && (!letter || humps && isHump(before, c, name[i+utf8.RuneLen(c):])) {
			list = append(list, strings.ToLower(name[start:i]))
			start = -1
		}
		if letter && start < 0 {
			start = i
		}
		before = c
	}
	if start >= 0 {
		list = append(list, strings.ToLower(name[start:]))
	}
	return list
}

// isHump reports whether a word starts at c: after a small letter, or at the last of
// several capitals (APIKey).
func isHump(before, c rune, rest string) bool {
	if !unicode.IsUpper(c) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(before) || unicode.IsUpper(before) && unicode.IsLower(next)
}

// squash leaves the letters and digits of a name, in lower case.
func squash(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, name)
}

// about are last words that make of a secret's name the name of something that is
// known of it.
var about = set("algorithm at budget cache count counter created date enabled endpoint env expires expiry expiration field " +
	"file filename format hint in index kind last length limit limits location map max min name names path policy " +
	"prefix quota ratio rate ref regex required requirements reset rotation rules schema scope scopes size status store strength " +
	"supported ttl type types uri updated url usage valid validator version")

// keyOf are words before key that make it something else than a credential.
var keyOf = set("arrow cache candidate column composite compound config context dedupe dict dimension distribution end first foreign " +
	"group hot idempotency idempotent index issue item join json last license locale lookup map message metadata metric natural next " +
	"object order parent partition press previous primary project property public publishable range record redis response result " +
	"row s shard short sort start storage surrogate tag template translation unique up down")

// tokenOf are words before token that make it a position in a list or a unit of text.
var tokenOf = set("next page prev previous continuation continue pagination paging cursor sync start resume change marker " +
	"stop eos bos pad unk mask special first last max min num number per each input output prompt completion cached " +
	"total avg average design cls sep unexpected")

// passOf are words before pass that make it a password.
var passOf = set("admin auth basic db database email ftp ftps http https imap keystore ldap login mail mongo mongodb mysql pg " +
	"postgres postgresql proxy rabbitmq redis root sasl smtp sql ssh sudo ssl truststore user username vpn wifi")

// manyOf are words before tokens and keys that make them credentials.
var manyOf = set("access api app auth authentication bearer bot client csrf deploy encryption id oauth personal private refresh secret " +
	"service session signing ssh xsrf")

// joined are the ends of names that are written in one word. A name that is one of
// them counts too.
var joined = []string{
	"password", "passwords", "passwd", "passphrase", "passcode", "secret", "secrets", "credential", "credentials",
	"apikey", "apikeys", "accesskey", "accesskeys", "secretkey", "secretkeys", "privatekey", "privatekeys", "authkey", "signingkey",
	"encryptionkey", "sshkey", "servicekey", "masterkey", "appkey", "sessionkey", "clientkey",
	"accesstoken", "accesstokens", "authtoken", "apitoken", "refreshtoken", "refreshtokens", "bearertoken", "sessiontoken", "idtoken",
	"csrftoken", "xsrftoken", "usertoken", "bottoken", "oauthtoken", "securitytoken",
	"sessioncookie", "authcookie",
}

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, word := range strings.Fields(list) {
		m[word] = true
	}
	return m
}

// judgeWords judges a name by its words: the last that is a secret's decides, unless
// what follows it says that the value only is about the secret.
func judgeWords(list []string) naming {
	if len(list) == 0 {
		return harmless
	}
	found, at := harmless, -1
	for i := len(list) - 1; i >= 0 && found == harmless; i-- {
		found, at = judgeWord(list, i), i
	}
	last := list[len(list)-1]
	switch {
	case found == harmless || at == len(list)-1:
		return found
	case about[last]:
		return harmless
	case (last == "id" || last == "ids") && (list[at] == "token" || list[at] == "key"), found == bareKey:
		return harmless
	}
	return found
}

// judgeWord judges the word at i, with the one before it.
func judgeWord(list []string, i int) naming {
	word, before := list[i], ""
	if i > 0 {
		before = list[i-1]
	}
	switch word {
	case "authorization", "cookie", "cookies":
		return header
	case "pwd", "jwt":
		if len(list) == 1 && word == "pwd" {
			return wary // the working directory of a shell
		}
		return secret
	case "bearer":
		return wary
	case "token":
		switch {
		case before == "":
			return wary
		case tokenOf[before]:
			return harmless
		}
		return secret
	case "tokens":
		if manyOf[before] {
			return secret
		}
	case "key":
		switch {
		case before == "":
			return bareKey
		case keyOf[before]:
			return harmless
		}
		return secret
	case "keys":
		if manyOf[before] {
			return secret
		}
	case "pass":
		switch {
		case before == "" && len(list) == 1:
			return wary
		case passOf[before]:
			return secret
		}
	case "auth":
		if before == "basic" || before == "http" || before == "proxy" || before == "x" || before == "bearer" {
			return secret
		}
	case "word":
		if before == "pass" {
			return secret
		}
	default:
		for _, end := range joined {
			if strings.HasSuffix(word, end) {
				return secret
			}
		}
	}
	return harmless
}

// isSignature reports whether a parameter of a query signs the address. In other
// places a signature is a function's.
func isSignature(name string) bool {
	s := squash(name)
	return s == "sig" || strings.HasSuffix(s, "signature")
}
