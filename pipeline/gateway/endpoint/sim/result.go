package sim

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/toolgauge/toolgauge/internal/rawjson"
	"github.com/toolgauge/toolgauge/pipeline/gateway/card"
	"github.com/toolgauge/toolgauge/pipeline/gateway/endpoint"
)

// answer makes up a result.
func (s *Simulation) answer(draw *stream, r endpoint.Request) endpoint.Answer {
	m := s.model.Result
	if m == (card.Result{}) {
		return endpoint.Answer{Body: echo(r)}
	}
	var secrets []string
	for range m.Secrets {
		secret := secretOf(draw)
		secrets = append(secrets, secret)
		if s.options.Ledger != nil {
			s.options.Ledger.plant(secret)
		}
	}
	var text string
	if m.Form == "text" {
		text = prose(draw, m, secrets)
	} else {
		text = records(draw, m, secrets, r.Tool)
	}
	body := encoded(draw, text, m)
	answer := endpoint.Answer{Body: body}
	if r.BytesMax > 0 && int64(len(body)) > r.BytesMax {
		answer.Bytes, answer.Body = int64(len(body)), body[:r.BytesMax]
	}
	return answer
}

// echo is the answer of an endpoint that says only what it was asked.
func echo(r endpoint.Request) []byte {
	head := append([]byte(`{"status":"ok","tool":`), rawjson.String(r.Tool)...)
	head = append(head, `,"arguments":`...)
	return append(append(head, r.Arguments...), '}')
}

// subjects and states make up records that look like data.
var (
	subjects = []string{"invoice", "parcel", "meeting", "report", "backup", "booking", "sensor", "release", "ticket", "contract"}
	states   = []string{"open", "done", "late", "waiting", "cancelled"}
	cities   = []string{"Turin", "Bergen", "Osaka", "Lyon", "Quito", "Graz", "Perth", "Oulu"}
)

// records are JSON of about the size wanted, with the secrets among them in various
// spellings.
func records(draw *stream, m card.Result, secrets []string, tool string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"tool":%s,"items":[`, rawjson.String(tool))
	for i := 0; i == 0 || b.Len() < m.Bytes || i < len(secrets); i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"title":"%s %d in %s","state":%q,"amount":%d.%02d`, 1000+i,
			subjects[draw.intn(len(subjects))], draw.intn(900), cities[draw.intn(len(cities))], states[draw.intn(len(states))], draw.intn(5000), draw.intn(100))
		if i < len(secrets) {
			b.WriteString(spelled(i, secrets[i]))
		}
		b.WriteByte('}')
	}
	b.WriteString("]}")
	return b.String()
}

// spelled hides a secret in a record.
func spelled(i int, secret string) string {
	switch i % 6 {
	case 0:
		return `,"password":"` + secret + `"`
	case 1:
		return `,"login":{"Api-Key":"` + secret + `"}`
	case 2:
		return `,"log":"GET /x?access_token=` + secret + `&page=2"`
	case 3:
		return `,"headers":[{"name":"Authorization","value":"Bearer ` + secret + `"}]`
	case 4:
		return `,"source":"https://robot:` + secret + `@files.example/x"`
	default:
		return `,"env":"export CLIENT_SECRET='` + secret + `'"`
	}
}

// prose is text of about the size wanted, with characters beyond ASCII.
func prose(draw *stream, m card.Result, secrets []string) string {
	var b strings.Builder
	letters := accents(m.Encoding)
	for i := 0; i == 0 || b.Len() < m.Bytes || i < len(secrets); i++ {
		fmt.Fprintf(&b, "%d. The %s of %s is %s%s.", i+1, subjects[draw.intn(len(subjects))], cities[draw.intn(len(cities))], states[draw.intn(len(states))], letters)
		if i < len(secrets) {
			b.WriteString(" token=" + secrets[i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// accents is a remark in characters that an encoding is for.
func accents(label string) string {
	switch strings.ToLower(label) {
	case "gbk", "gb18030", "gb2312":
		return " (已确认)"
	case "shift_jis", "euc-jp", "iso-2022-jp":
		return " (確認済み)"
	case "euc-kr":
		return " (확인됨)"
	case "big5":
		return " (已確認)"
	case "windows-1251", "koi8-r":
		return " (проверено)"
	default:
		return " (vérifié)"
	}
}

// encoded is a text in the model's encoding, with bytes that are not of it.
func encoded(draw *stream, text string, m card.Result) []byte {
	body := []byte(text)
	if e, err := htmlindex.Get(m.Encoding); err == nil {
		if out, err := e.NewEncoder().Bytes(body); err == nil {
			body = out
		}
	}
	for range m.Broken {
		at := draw.intn(len(body) + 1)
		body = append(body[:at:at], append([]byte{0xff}, body[at:]...)...)
	}
	return body
}

const secretLetters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

func secretOf(draw *stream) string {
	secret := make([]byte, 28)
	for i := range secret {
		secret[i] = secretLetters[draw.intn(len(secretLetters))]
	}
	return string(secret)
}
