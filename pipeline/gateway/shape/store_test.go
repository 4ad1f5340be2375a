package shape_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolgauge/toolgauge/pipeline/gateway/shape"
)

func TestCall(t *testing.T) {
	store := shape.NewStore(&still{})
	h := store.Put("me", "1", `{"a/b":[10,{"c":"héé"}],"t":"x"}`)
	long := store.Put("me", "2", strings.Repeat("é", 5000))
	for _, c := range []struct{ args, want, fault string }{
		{`{"handle":"` + h + `"}`, `{"a/b":[10,{"c":"héé"}],"t":"x"}`, ""},
		{`{"handle":"result://` + h + `","offset":26}`, `":"x"}`, ""},
		{`{"handle":"` + h + `","offset":1,"length":5}`, "\"a/b\"\n[1 to 6 of 32 code points; next offset 6]", ""},
		{`{"handle":"` + h + `","pointer":"/a~1b/1/c"}`, `"héé"`, ""},
		{`{"handle":"` + h + `","pointer":"/a~1b/1/c","offset":2,"length":2}`, "éé\n[2 to 4 of 5 code points; next offset 4]", ""},
		{`{"handle":"` + h + `","pointer":""}`, `{"a/b":[10,{"c":"héé"}],"t":"x"}`, ""},
		{`{"handle":"` + long + `","offset":999}`, strings.Repeat("é", 4000) + "\n[999 to 4999 of 5000 code points; next offset 4999]", ""},
		{`{"handle":"` + long + `","offset":5000}`, "", ""},
		{`{"handle":"` + long + `","offset":5001}`, "", "outside of the text"},
		{`{"handle":"` + long + `","offset":-1}`, "", "outside of the text"},
		{`{"handle":"` + long + `","length":0}`, "", "not within 1 and 100000"},
		{`{"handle":"` + long + `","length":100001}`, "", "not within 1 and 100000"},
		{`{"handle":"` + long + `","pointer":"/a"}`, "", "is not JSON"},
		{`{"handle":"` + h + `","pointer":"a"}`, "", "does not begin with /"},
		{`{"handle":"` + h + `","pointer":"/a~1b/2"}`, "", `"/a/b" is array of 2 elements, and has no "2"`},
		{`{"handle":"` + h + `","pointer":"/a~1b/01"}`, "", "has no"},
		{`{"handle":"` + h + `","pointer":"/t/x"}`, "", `is string, and has no "x"`},
		{`{"handle":"r000000000000"}`, "", "no such result"},
		{`{}`, "", "handle is missing"},
		{`{"handle":"x","more":1}`, "", "unknown field"},
		{`{"handle":1}`, "", "cannot unmarshal"},
		{`{"handle":"x"} {}`, "", "more than one value"},
		{``, "", "EOF"},
	} {
		got, err := store.Call("me", json.RawMessage(c.args))
		switch {
		case c.fault == "" && (err != nil || got != c.want):
			t.Errorf("%s: %q, %v; want %q", c.args, got, err, c.want)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), "\nhint: ")):
			t.Errorf("%s: %q, %v; want an error with %q and a hint", c.args, got, err, c.fault)
		}
	}
}

func TestOwnersAreApart(t *testing.T) {
	store := shape.NewStore(&still{})
	mine, theirs := store.Put("me", "1", "mine"), store.Put("you", "1", "yours")
	if mine == theirs {
		t.Errorf("one handle for two: %s", mine)
	}
	if _, err := store.Read("you", mine, 0, 10); !errors.Is(err, shape.ErrNoResult) {
		t.Errorf("another owner reads: %v", err)
	}
	if again := shape.NewStore(&still{}).Put("me", "1", "other"); again != mine {
		t.Errorf("the handle is %s, then %s", mine, again)
	}
	if text, err := store.Pointer("you", theirs, ""); text != "yours" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestOldestGoFirst(t *testing.T) {
	now := &still{}
	store := shape.NewStore(now)
	var handles []string
	for i := range shape.OwnerResultsMax + 1 {
		handles = append(handles, store.Put("me", fmt.Sprint(i), "text"))
	}
	kept := func(owner, handle string) bool {
		_, err := store.Read(owner, handle, 0, 1)
		return err == nil
	}
	if kept("me", handles[0]) || !kept("me", handles[1]) || !kept("me", handles[len(handles)-1]) {
		t.Error("not the oldest went, or others too")
	}
	store.Put("me", "1", "again") // as the youngest
	store.Put("me", "new", "text")
	if !kept("me", handles[1]) || kept("me", handles[2]) {
		t.Error("a text that was put again is still the oldest")
	}
	big := strings.Repeat("x", shape.OwnerBytesMax/2)
	first := store.Put("me", "big", big)
	if store.Put("me", "big 2", big); kept("me", handles[1]) || !kept("me", first) {
		t.Error("the bytes of an owner are not bounded")
	}
	if store.Put("me", "too big", big+big+"x") != "" {
		t.Error("more was taken than an owner may have")
	}
	for i := range 7 {
		store.Put(fmt.Sprint("owner ", i), "big", big)
	}
	if kept("me", first) || !kept("owner 0", store.Put("owner 0", "small", "x")) {
		t.Error("the bytes of all are not bounded")
	}
	last := store.Put("you", "1", "text")
	now.now = now.now.Add(shape.KeptFor - time.Second)
	if !kept("you", last) {
		t.Error("it went too early")
	}
	if now.now = now.now.Add(time.Second); kept("you", last) {
		t.Error("it is kept for ever")
	}
}

func TestStoreIsSafe(t *testing.T) {
	store := shape.NewStore(&still{})
	var all sync.WaitGroup
	for owner := range 4 {
		all.Go(func() {
			for i := range 300 {
				name := fmt.Sprint(owner % 2)
				h := store.Put(name, fmt.Sprint(owner, i), "text")
				if text, err := store.Read(name, h, 0, 10); err == nil && text != "text" {
					t.Errorf("%q", text)
				}
			}
		})
	}
	all.Wait()
}
