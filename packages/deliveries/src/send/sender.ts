// When a failed attempt is tried again.
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

/** Jitter only shortens a pause: endpoints that fail together are not called again together. */
const minJitterShare = 0.8

/**
 * The pause before the attempt that follows `attempt` (from 1); `undefined` when the schedule is used up.
 * @param random from 0 to 1
 * @param retryAfterMs for how long the endpoint asked to be left alone: makes a pause longer, never shorter, and adds none
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

// The span of one attempt of a delivery: it goes on with the trace of the request that led to it, hours later as well.

/** Never tells the URL: it may hold a secret. What nobody traces has no span here either. */
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

// Makes one attempt of one delivery and records how it ended.

/** Makes the attempt and returns the one that follows it, if the delivery goes on. */
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
    return await inAttemptSpan({ node: node.name, ref, due }, async (ended) => {
      const made = await make(node, ref, { due, signal })
      ended(made.post)
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
    const place = ref.attempt - due.series_start
    const pauseMs =
      error === null ? undefined : nextPauseMs(endpoint.retryScheduleMs, place, random(), post.retryAfterMs)
    const outcome = outcomeOf(post, pauseMs, now())
    const result = { ...ref, at, ms, httpStatus, error, responseBody, ...outcome, seriesStart: due.series_start }
    const finished = await deliveries.finish(result)
    if (finished !== undefined) {
      logAttempt(log, made, { due, ...outcome, ...finished })
      const goesOn = outcome.nextAttemptAt !== null && pauseMs !== undefined
      const next = { deliveryId: ref.deliveryId, attempt: ref.attempt + 1, isTest: due.is_test }
      return goesOn ? { ...next, delayMs: pauseMs } : undefined
    }
    const again = await deliveries.due(ref)
    // Redelivered meanwhile: this attempt is the first of a new schedule.
    const isNewSeries = again !== undefined && again.series_start !== due.series_start
    return isNewSeries ? await record(made, again) : undefined
  }

  return async (node, ref, signal) => {
    // Two jobs for one delivery can be there after a worker died; within one process it is not sent twice at a time.
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
  // Held, even when this was its last attempt: it is sent when an operator enables the node.
  if (error === 'gone') return { status: 'pending', nextAttemptAt: null, disablesNode: true }
  if (pauseMs === undefined) return { status: 'failed', nextAttemptAt: null, disablesNode: false }
  return { status: 'pending', nextAttemptAt: new Date(finishedAt.getTime() + pauseMs), disablesNode: false }
}

/** The URL, and what the endpoint said, stay out of the log: they may hold a secret. */
function logAttempt(
  log: Logger,
  { endpoint, ref, ms, post }: MadeAttempt,
  { due, status, nextAttemptAt, disabledNode }: { due: DueDelivery } & Outcome & FinishedAttempt,
): void {
  const { httpStatus, error, code } = post
  const { event, correlation_id: correlationId, causation_id: causationId } = due
  const about = { ...ref, node: endpoint.name, event, ms, httpStatus, correlationId, causationId }
  if (error === null) log.debug(about, 'webhook delivered')
  else log.warn({ ...about, error, code, nextAttemptAt, status }, 'webhook attempt failed')
  // Once for the node, not for each of its deliveries.
  if (disabledNode) {
    const action = `run "ops webhooks enable ${endpoint.name}" to send what is held`
    log.error(
      { node: endpoint.name, action },
      'webhook node disabled: its endpoint says that it is gone for good (410)',
    )
  }
}

/** What must not be kept of a node's answers, worked out once. */
function createSecretsCache(): (node: WebhookEndpoint) => readonly string[] {
  const known = new WeakMap<WebhookEndpoint, readonly string[]>()
  return (node) => {
    const secrets = known.get(node) ?? endpointSecrets(node)
    known.set(node, secrets)
    return secrets
  }
}
