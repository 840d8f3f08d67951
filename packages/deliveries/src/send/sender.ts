// Makes one attempt of a delivery, records its result and schedules the retry.
import { type Span, SpanKind } from '@opentelemetry/api'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { contextOf, inSpan, markFailed } from '@paylog/runtime/telemetry/spans'
import type { SuccessStatus } from '@paylog/webhooks/endpointResponse'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { webhookHeaders } from '@paylog/webhooks/signing'
import type {
  AttemptRef,
  AttemptResult,
  Deliveries,
  DueDelivery,
  FinishedAttempt,
  QueuedAttempt,
} from '../tables/deliveries.ts'
import type { EndpointAgent } from './endpointAgent.ts'
import { type PostResult, postWebhook } from './postWebhook.ts'
import { endpointSecrets, signaturesIn } from './responseBody.ts'

/** Makes an attempt and returns the next one, if there is a retry. */
export type Sender = (
  node: WebhookEndpoint,
  attempt: AttemptRef,
  signal: AbortSignal,
) => Promise<QueuedAttempt | undefined>

type SenderDeps = {
  readonly deliveries: Pick<Deliveries, 'due' | 'finish'>
  readonly agent: EndpointAgent
  readonly successStatus: SuccessStatus
  readonly now: () => Date
  readonly random: () => number
  readonly log: Logger
}

export function createSender(deps: SenderDeps): Sender {
  const { deliveries, now, random, log } = deps
  const inFlight = new Set<string>()
  const secretsOf = createSecretsCache()

  async function attempt(node: WebhookEndpoint, ref: AttemptRef, signal: AbortSignal) {
    const due = await deliveries.due(ref)
    if (due === undefined) return undefined
    return await inAttemptSpan({ node: node.name, ref, due }, async (onResult) => {
      const made = await make(node, ref, { due, signal })
      onResult(made.post)
      return await record(made, due)
    })
  }

  async function make(
    node: WebhookEndpoint,
    ref: AttemptRef,
    { due, signal }: { readonly due: DueDelivery; readonly signal: AbortSignal },
  ): Promise<MadeAttempt> {
    const at = now()
    const before = performance.now()
    const { body, is_test: isTest } = due
    const headers = webhookHeaders({ id: ref.deliveryId, at, body, secrets: node.secrets, isTest })
    const secrets = [...signaturesIn(headers['webhook-signature']), ...secretsOf(node)]
    const post = await postWebhook({ ...deps, endpoint: node, headers, body, secrets, signal })
    return { endpoint: node, ref, at, ms: Math.round(performance.now() - before), post }
  }

  async function record(made: MadeAttempt, due: DueDelivery): Promise<QueuedAttempt | undefined> {
    const { endpoint, ref, at, ms, post } = made
    const { httpStatus, error, responseBody } = post
    const seriesAttempt = ref.attempt - due.series_start
    const pauseMs =
      error === null ? undefined : nextPauseMs(endpoint.retryScheduleMs, seriesAttempt, random(), post.retryAfterMs)
    const outcome = outcomeOf(post, pauseMs, now())
    const result = { ...ref, at, ms, httpStatus, error, responseBody, ...outcome, seriesStart: due.series_start }
    const finished = await deliveries.finish(result)
    if (finished !== undefined) {
      logAttempt(log, made, { due, ...outcome, ...finished })
      const isRetried = outcome.nextAttemptAt !== null && pauseMs !== undefined
      const next = { deliveryId: ref.deliveryId, attempt: ref.attempt + 1, isTest: due.is_test }
      return isRetried ? { ...next, delayMs: pauseMs } : undefined
    }
    const current = await deliveries.due(ref)
    // Redelivered meanwhile: this attempt is the first of the new schedule.
    const isNewSeries = current !== undefined && current.series_start !== due.series_start
    return isNewSeries ? await record(made, current) : undefined
  }

  return async (node, ref, signal) => {
    // After a worker died, a delivery may have two jobs. Within one process it is never sent twice concurrently.
    if (inFlight.has(ref.deliveryId)) return undefined
    inFlight.add(ref.deliveryId)
    try {
      return await attempt(node, ref, signal)
    } finally {
      inFlight.delete(ref.deliveryId)
    }
  }
}

type MadeAttempt = {
  readonly endpoint: WebhookEndpoint
  readonly ref: AttemptRef
  readonly at: Date
  readonly ms: number
  readonly post: PostResult
}
type Outcome = Pick<AttemptResult, 'status' | 'nextAttemptAt' | 'disablesNode'>

function outcomeOf({ error }: PostResult, pauseMs: number | undefined, finishedAt: Date): Outcome {
  if (error === null) return { status: 'succeeded', nextAttemptAt: null, disablesNode: false }
  // Held, even after its last attempt: it is sent when an operator enables the endpoint.
  if (error === 'gone') return { status: 'pending', nextAttemptAt: null, disablesNode: true }
  if (pauseMs === undefined) return { status: 'failed', nextAttemptAt: null, disablesNode: false }
  return { status: 'pending', nextAttemptAt: new Date(finishedAt.getTime() + pauseMs), disablesNode: false }
}

/**
 * Runs an attempt in a span that continues the trace of the original request, even hours later. The span never contains
 * the URL, which may hold a secret. Untraced deliveries have no span.
 */
async function inAttemptSpan<Result>(
  { node, ref, due }: { readonly node: string; readonly ref: AttemptRef; readonly due: DueDelivery },
  attempt: (ended: (post: PostResult) => void) => Promise<Result>,
): Promise<Result> {
  const { traceparent, event, correlation_id } = due
  if (traceparent === null) return await attempt(() => undefined)
  const attributes = {
    'http.request.method': 'POST',
    'paylog.webhook.node': node,
    'paylog.webhook.event': event,
    'paylog.delivery.id': ref.deliveryId,
    'paylog.delivery.attempt': ref.attempt,
    'paylog.correlation_id': correlation_id,
  }
  return await inSpan(
    { name: `deliver to ${node}`, kind: SpanKind.CLIENT, attributes, parent: contextOf(traceparent) },
    (span) => attempt((post) => recordResult(span, post)),
  )
}

function recordResult(span: Span, { httpStatus, error }: PostResult): void {
  if (httpStatus !== null) span.setAttribute('http.response.status_code', httpStatus)
  if (error !== null) markFailed(span, error)
}

/** The URL and the response stay out of the log: they may contain secrets. */
function logAttempt(
  log: Logger,
  { endpoint, ref, ms, post }: MadeAttempt,
  { due, status, nextAttemptAt, disabledNode }: { due: DueDelivery } & Outcome & FinishedAttempt,
): void {
  const { httpStatus, error, code } = post
  const { event, correlation_id: correlationId, causation_id: causationId } = due
  const fields = { ...ref, node: endpoint.name, event, ms, httpStatus, correlationId, causationId }
  if (error === null) log.debug(fields, 'webhook delivered')
  else log.warn({ ...fields, error, code, nextAttemptAt, status }, 'webhook attempt failed')
  // Logged once per endpoint, not for each of its deliveries.
  if (disabledNode) {
    const action = `run "ops webhooks enable ${endpoint.name}" to send its held deliveries`
    log.error({ node: endpoint.name, action }, 'webhook endpoint paused: it responded 410 Gone')
  }
}

/** Caches the texts to redact for each endpoint. */
function createSecretsCache(): (node: WebhookEndpoint) => readonly string[] {
  const cache = new WeakMap<WebhookEndpoint, readonly string[]>()
  return (node) => {
    const secrets = cache.get(node) ?? endpointSecrets(node)
    cache.set(node, secrets)
    return secrets
  }
}

/** Jitter only shortens pauses, so that endpoints that fail together are not retried together. */
const minJitterShare = 0.8

/**
 * The pause after attempt number `attempt` (from 1); `undefined` when the schedule has no further attempt.
 * @param random from 0 to 1
 * @param retryAfterMs from the endpoint's `Retry-After`: it can lengthen a pause, never shorten or add one
 */
export function nextPauseMs(
  scheduleMs: readonly number[],
  attempt: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const pauseMs = scheduleMs[attempt - 1]
  if (pauseMs === undefined) return undefined
  return Math.max(Math.round(pauseMs * (minJitterShare + (1 - minJitterShare) * random)), retryAfterMs)
}
