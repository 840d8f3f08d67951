// Makes one attempt of a delivery, records its result and plans the retry.
import { type Span, SpanKind } from '@opentelemetry/api'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { contextOf, inSpan, markFailed } from '@paylog/runtime/telemetry/spans'
import type { SuccessStatus } from '../../endpoints/endpointResponse.ts'
import type { WebhookEndpoint } from '../../endpoints/endpoints.ts'
import { webhookHeaders } from '../../messages/signing.ts'
import type { ClaimedDelivery } from '../tables/claims.ts'
import type { Deliveries } from '../tables/deliveries.ts'
import type { AttemptResult } from '../tables/results.ts'
import type { BodyOf } from './bodies.ts'
import type { EndpointAgent } from './endpointAgent.ts'
import { type PostResult, postWebhook } from './postWebhook.ts'
import { endpointSecrets, signaturesIn } from './responseBody.ts'

export type MadeAttempt = {
  readonly endpoint: WebhookEndpoint
  readonly delivery: ClaimedDelivery
  readonly at: Date
  readonly ms: number
  readonly post: PostResult
}

export type Sender = {
  /**
   * Sends a delivery once, unless it was erased and nothing is left to send.
   * @throws when `signal` aborts, because the outcome is unknown then; DomainError `event_store_unavailable` when an erased body
   *   cannot be built again
   */
  post(endpoint: WebhookEndpoint, delivery: ClaimedDelivery, signal: AbortSignal): Promise<MadeAttempt>
  /** Records an attempt. @returns when the next one is due, if there is a retry. @throws database errors */
  record(made: MadeAttempt): Promise<Date | undefined>
}

export function createSender(deps: {
  readonly deliveries: Pick<Deliveries, 'finish'>
  readonly bodyOf: BodyOf
  readonly agent: EndpointAgent
  readonly successStatus: SuccessStatus
  readonly now: () => Date
  readonly random: () => number
  /** Called with each result once it is recorded. */
  readonly onRecorded?: (result: AttemptResult) => void
  readonly log: Logger
}): Sender {
  const { deliveries, bodyOf, now, random, onRecorded, log } = deps
  const secretsOf = createSecretsCache()

  async function post(endpoint: WebhookEndpoint, delivery: ClaimedDelivery, signal: AbortSignal): Promise<MadeAttempt> {
    const body = await bodyOf(endpoint, delivery)
    const at = now()
    if (body === undefined) return { endpoint, delivery, at, ms: 0, post: nothingLeft }
    const before = performance.now()
    const { id, is_test: isTest, source_revision: sequence } = delivery
    const headers = webhookHeaders({ id, at, body, secrets: endpoint.secrets, sequence, isTest })
    const secrets = () => [...signaturesIn(headers['webhook-signature']), ...secretsOf(endpoint)]
    const result = await postWebhook({ ...deps, endpoint, headers, body, secrets, signal })
    return { endpoint, delivery, at, ms: Math.round(performance.now() - before), post: result }
  }

  async function record(made: MadeAttempt): Promise<Date | undefined> {
    const { endpoint, delivery, at, ms, post } = made
    const { httpStatus, error, responseBody } = post
    const attempt = delivery.attempts + 1
    const seriesStart = delivery.series_start
    const pauseMs =
      error === null || error === 'erased'
        ? undefined
        : nextPauseMs(endpoint.retryScheduleMs, attempt - seriesStart, random(), post.retryAfterMs)
    const outcome = outcomeOf(post, pauseMs, now())
    const response = { httpStatus, error, responseBody }
    const result = { deliveryId: delivery.id, attempt, seriesStart, at, ms, ...response, ...outcome }
    // Once more, because a redelivery may have come in between.
    const recorded = (await deliveries.finish(result)) ?? (await deliveries.finish(result))
    if (recorded === undefined) return undefined
    onRecorded?.({ ...result, ...recorded })
    logAttempt(log, made, recorded)
    return outcome.pausesEndpoint ? undefined : (recorded.nextAttemptAt ?? undefined)
  }

  return {
    post: (endpoint, delivery, signal) =>
      inAttemptSpan(endpoint.name, delivery, () => post(endpoint, delivery, signal)),
    record,
  }
}

const nothingLeft: PostResult = {
  httpStatus: null,
  error: 'erased',
  code: null,
  responseBody: null,
  retryAfterMs: undefined,
}

type Outcome = { readonly nextAttemptAt: Date | null; readonly pausesEndpoint: boolean }

function outcomeOf({ error }: PostResult, pauseMs: number | undefined, finishedAt: Date): Outcome {
  // Kept, even after its last attempt: it is sent when an operator enables the endpoint.
  if (error === 'gone') return { nextAttemptAt: finishedAt, pausesEndpoint: true }
  const isRetried = error !== null && pauseMs !== undefined
  return { nextAttemptAt: isRetried ? new Date(finishedAt.getTime() + pauseMs) : null, pausesEndpoint: false }
}

/**
 * Makes an attempt in a span that continues the trace of the original request, even hours later. The span never contains
 * the URL, which may hold a secret. Untraced deliveries have no span.
 */
async function inAttemptSpan(
  endpoint: string,
  { id, attempts, traceparent, event, correlation_id }: ClaimedDelivery,
  attempt: () => Promise<MadeAttempt>,
): Promise<MadeAttempt> {
  if (traceparent === null) return await attempt()
  const attributes = {
    'http.request.method': 'POST',
    'paylog.webhook.node': endpoint,
    'paylog.webhook.event': event,
    'paylog.delivery.id': id,
    'paylog.delivery.attempt': attempts + 1,
    'paylog.correlation_id': correlation_id,
  }
  return await inSpan(
    { name: `deliver to ${endpoint}`, kind: SpanKind.CLIENT, attributes, parent: contextOf(traceparent) },
    async (span) => {
      const made = await attempt()
      recordResult(span, made.post)
      return made
    },
  )
}

function recordResult(span: Span, { httpStatus, error }: PostResult): void {
  if (httpStatus !== null) span.setAttribute('http.response.status_code', httpStatus)
  if (error !== null) markFailed(span, error)
}

/** The URL and the response stay out of the log: they may contain secrets. */
function logAttempt(
  log: Logger,
  { endpoint, delivery, ms, post }: MadeAttempt,
  { nextAttemptAt, pausedEndpoint }: { readonly nextAttemptAt: Date | null; readonly pausedEndpoint: boolean },
): void {
  const { httpStatus, error, code } = post
  if (error === null && !log.isLevelEnabled('debug')) return
  const { id: deliveryId, attempts, event, correlation_id: correlationId, causation_id: causationId } = delivery
  const attempt = attempts + 1
  const fields = { deliveryId, attempt, node: endpoint.name, event, ms, httpStatus, correlationId, causationId }
  if (error === null) log.debug(fields, 'webhook delivered')
  else
    log.warn(
      { ...fields, error, code, nextAttemptAt, status: nextAttemptAt === null ? 'failed' : 'pending' },
      'webhook attempt failed',
    )
  // Logged once per endpoint, not for each of its deliveries.
  if (pausedEndpoint) {
    const action = `run "ops webhooks enable ${endpoint.name}" to send its held deliveries`
    log.error({ node: endpoint.name, action }, 'webhook endpoint paused: it responded 410 Gone')
  }
}

/** Caches the texts to redact for each endpoint. */
function createSecretsCache(): (endpoint: WebhookEndpoint) => readonly string[] {
  const cache = new WeakMap<WebhookEndpoint, readonly string[]>()
  return (endpoint) => {
    const secrets = cache.get(endpoint) ?? endpointSecrets(endpoint)
    cache.set(endpoint, secrets)
    return secrets
  }
}

/** Jitter only lengthens pauses, so that endpoints that fail together are not retried together. */
const jitterShare = 0.1

/**
 * The pause after attempt number `attempt` (from 1); `undefined` when the schedule has no further attempt.
 * @param random from 0 to 1
 * @param retryAfterMs from the endpoint's `Retry-After`: it can lengthen a pause, never shorten or add one
 */
function nextPauseMs(
  scheduleMs: readonly number[],
  attempt: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const pauseMs = scheduleMs[attempt - 1]
  if (pauseMs === undefined) return undefined
  return Math.max(Math.round(pauseMs * (1 + jitterShare * random)), retryAfterMs)
}
