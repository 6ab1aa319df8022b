// Package sim is a simulated inference service: replicas of a continuous-batching
// server behind a router, and the metrics page that a current vLLM would show for
// each. It runs in virtual time from a seed: the same options give the same pages
// and events, byte for byte, however the time is cut up. It reads no clock, opens
// no connection, and knows nothing of how its pages are read.
//
// A service is Llama-3.1-8B in BF16 on one H100 a replica. The time of a step
// comes from the bytes and the FLOPs it moves (Machine), what is in a step from a
// scheduler of the vLLM V1 kind, and a metric is observed at the moment at which
// vLLM observes it: TTFT and prompt tokens with the first token, gaps with each
// later one, everything else when a request ends.
//
// Choices where a real server leaves room or a simulation must:
//
//   - The three workflows share every batch, cache pool and step, and each is a
//     served model name of its own, so that a reader without configuration sees
//     three workflows. (vLLM labels all rows with its first name.) What belongs to
//     a request stands under the name it came by. KV usage belongs to the engine
//     and is repeated under each name. What belongs to a step (iteration tokens,
//     estimated FLOPs and bytes) is counted under the first name only, so that a
//     sum over names is the engine's.
//   - Estimated FLOPs and bytes move, as with --enable-mfu-metrics.
//   - The router sends each request to the ready replica with the fewest
//     outstanding, ties in turn.
//   - Clients do not tell the engine that they gave up. A request that is past its
//     patience is dropped when the scheduler comes to it, and counted under the
//     finish reason abort and nowhere else. Patience is exponential: the figure
//     given is its mean.
//   - A cached prefix saves its computation, not its blocks: sequences share none.
//   - Every request passes a gateway, which keeps it for about 2 ms. What an engine
//     measures begins when it has the request, what the gateway reports before.
//   - A real server must be started anew for another pool, cap or budget. An incident
//     changes them while it runs; the page tells of the new pool from then on.
//   - Who comes only with an incident has rows on a page from their first request on.
//   - A board's activity follows from the steps: the arithmetic and the bytes of each,
//     over peaks, with some excess that an engine's own estimate does not know. Power is
//     a plain sum of what is active.
//   - A hosted provider is a line in the prompt's length and a time a token, with
//     spread; the service's own load makes it no slower.
package sim
