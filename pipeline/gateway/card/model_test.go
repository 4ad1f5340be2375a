package card_test

import (
	"reflect"
	"testing"
)

// TestAnotherModelChangesNoCard: which model asks has no say in how calls are carried out.
func TestAnotherModelChangesNoCard(t *testing.T) {
	const tools = "tools: [{id: a, description: x, endpoint: {target: \"https://h/x\"}, summary: model, max_result_tokens: 9}]\n"
	one := mustParse(t, tools+"model: {type: openai_compatible, base_url: \"https://one/v1\", model_name: a, tool_call: true}\n")
	two := mustParse(t, tools+"model: {type: openai_compatible, base_url: \"https://two/v1\", api_key: k, model_name: b, tool_call: false}\n")
	if one.Model.Name != "a" || two.Model.ToolCall {
		t.Fatalf("%+v %+v", one.Model, two.Model)
	}
	first, err := one.Complete()
	if err != nil {
		t.Fatal(err)
	}
	second, err := two.Complete()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first, second) || !reflect.DeepEqual(one.Limits, two.Limits) || !reflect.DeepEqual(one.Session, two.Session) {
		t.Errorf("%+v\n%+v", first, second)
	}
}
