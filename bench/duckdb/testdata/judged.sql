-- Searches whose own measures are not those of their hits and golds.
WITH
asked AS (
  SELECT *, len(list_distinct(gold)) AS relevant,
    list_sort(list_filter(list_transform(list_distinct(gold), lambda g: list_position(list_transform(hits, lambda h: h.tool), g)), lambda r: r > 0)) AS ranks
  FROM searches
),
cuts AS (
  SELECT asked.*, cut.k, cut.recall, cut.precision, cut.success, cut.completeness, cut.ndcg, list_filter(ranks, lambda r: r <= cut.k) AS within
  FROM asked, LATERAL (SELECT unnest([
    {k: 1, recall: recall_at_1, precision: precision_at_1, success: success_at_1, completeness: completeness_at_1, ndcg: ndcg_at_1},
    {k: 3, recall: recall_at_3, precision: precision_at_3, success: success_at_3, completeness: completeness_at_3, ndcg: ndcg_at_3},
    {k: 5, recall: recall_at_5, precision: precision_at_5, success: success_at_5, completeness: completeness_at_5, ndcg: ndcg_at_5},
    {k: 10, recall: recall_at_10, precision: precision_at_10, success: success_at_10, completeness: completeness_at_10, ndcg: ndcg_at_10},
    {k: search_limit, recall: recall_at_limit, precision: precision_at_limit, success: success_at_limit, completeness: completeness_at_limit, ndcg: ndcg_at_limit}
  ], recursive := true)) AS cut
),
expected AS (
  SELECT cuts.*,
    [len(within) / relevant, len(within) / k, (len(within) > 0)::INT, (len(within) = relevant)::INT,
      coalesce(list_sum(list_transform(within, lambda r: 1 / log2(r + 1))), 0) / list_sum(list_transform(range(1, least(k, relevant) + 1), lambda r: 1 / log2(r + 1))),
      coalesce(1 / ranks[1], 0), coalesce(list_sum(list_transform(ranks, lambda r, i: i / r)), 0) / relevant] AS want,
    [recall, precision, success, completeness, ndcg, rr, ap] AS got
  FROM cuts
)
SELECT session_id, arm, turn, step, k, want, got FROM expected
WHERE CASE WHEN relevant = 0 THEN len(list_filter(got, lambda x: x IS NOT NULL)) > 0
  ELSE coalesce(list_max(list_transform(range(1, 8), lambda i: coalesce(abs(want[i] - got[i]), 1))), 1) > 1e-12 END
