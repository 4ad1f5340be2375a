package model

import (
	"context"
	"fmt"

	"github.com/sashabaranov/go-openai"

	"github.com/toolgauge/toolgauge/internal/rawjson"
)

// embedBatch is how many texts go into one request.
const embedBatch = 256

// Embed returns the vectors of texts, in the order of the texts, all of one length.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, 0, len(texts))
	for start := 0; start < len(texts); start += embedBatch {
		some, err := c.embed(ctx, texts[start:min(start+embedBatch, len(texts))])
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	for i, v := range all {
		if len(v) != len(all[0]) {
			return nil, c.protocol(fmt.Sprintf("its vectors differ in length: %d and %d at text %d", len(all[0]), len(v), i+1))
		}
	}
	return all, nil
}

func (c *Client) embed(ctx context.Context, texts []string) ([][]float32, error) {
	body := append([]byte(`{"model":`), rawjson.String(c.card.Name)...)
	body = append(body, `,"input":[`...)
	for i, text := range texts {
		if i > 0 {
			body = append(body, ',')
		}
		body = rawjson.AppendString(body, text)
	}
	var answer openai.EmbeddingResponse
	if err := c.post(ctx, "embeddings", append(body, `],"encoding_format":"float"}`...), &answer); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for _, e := range answer.Data { // which need not be in order
		if e.Index < 0 || e.Index >= len(texts) || vectors[e.Index] != nil || len(e.Embedding) == 0 {
			return nil, c.protocol(fmt.Sprintf("its vector of text %d is empty, or of no text that was asked for, or comes twice", e.Index))
		}
		vectors[e.Index] = e.Embedding
	}
	if len(answer.Data) != len(texts) {
		return nil, c.protocol(fmt.Sprintf("it answers with %d vectors for %d texts", len(answer.Data), len(texts)))
	}
	return vectors, nil
}
