// Requests with an Idempotency-Key: reuse of a key, requests in progress, and recorded responses.
import { type Static, type TSchema, Type } from 'typebox'
import { DomainError } from './errors.ts'
import type { Fold } from './events.ts'
import { Id, Instant } from './fields.ts'

/**
 * @param first the first request with this key
 * @param request_fingerprint of the current request
 * @throws DomainError `idempotency_key_reused` when the fingerprints differ
 */
export function requireSameRequest(
  first: { readonly request_fingerprint: string | null },
  request_fingerprint: string | null,
): void {
  if (first.request_fingerprint !== request_fingerprint)
    throw new DomainError('idempotency_key_reused', 'This Idempotency-Key was used with another request')
}

/** @param details the payment that the caller can query in the meantime */
export function keyInFlight(details?: { readonly payment_id: string }): DomainError {
  return new DomainError('idempotency_key_in_flight', 'The first request with this key is still in progress', details)
}

/** A request that is about to be processed. */
export const RequestBegun = Type.Object({
  request_id: Id,
  occurred_at: Instant,
  provider_id: Type.String(),
  /** SHA-256 of the request. */
  request_fingerprint: Type.String(),
})
export type RequestBegun = Static<typeof RequestBegun>

/** The request failed without a final result: it may be repeated at once. */
const RequestFailed = Type.Object({ kind: Type.Literal('failed') })
export type RequestFailed = Static<typeof RequestFailed>

/** The end of a request. @param finalResult schema of the results that are replayed for repeated requests */
export const requestEnded = <FinalResult extends TSchema>(finalResult: FinalResult) =>
  Type.Object({ request_id: Id, occurred_at: Instant, answer: Type.Union([finalResult, RequestFailed]) })

export type RequestEnded<Result> = {
  readonly request_id: string
  readonly occurred_at: string
  readonly answer: Result | RequestFailed
}

/** An event of requests of one kind. */
type RequestEvent<Result> = { readonly type: string; readonly data: RequestBegun | RequestEnded<Result> }

/** @typeParam Result the result that is replayed for a repeated request */
export type IdempotentRequest<Result> =
  | { readonly status: 'none' }
  | { readonly status: 'begun'; readonly request_fingerprint: string; readonly begun_at: string }
  | { readonly status: 'failed'; readonly request_fingerprint: string }
  | { readonly status: 'completed'; readonly request_fingerprint: string; readonly result: Result }

export type BeginRequest = {
  readonly begun: RequestBegun
  /**
   * How long we assume that the first request is still in progress. This is not a lock: a second request makes the same
   * calls with the same keys, and equal results are recorded once.
   */
  readonly inFlightMs: number
}

/** The commands for requests of one kind. */
export type RequestRules<Result extends { readonly kind: string }, Event extends RequestEvent<Result>> = {
  readonly fold: Fold<IdempotentRequest<Result>, Event>
  /** Begins a request, unless it has a final result. @throws the errors of `recordedResponse` */
  readonly begin: (command: BeginRequest, request: IdempotentRequest<Result>) => Event[]
  /** Records the result. The first final result stays. */
  readonly end: (command: RequestEnded<Result>, request: IdempotentRequest<Result>) => Event[]
}

/** @param events create the two events of this kind */
export function requestRules<Result extends { readonly kind: string }, Event extends RequestEvent<Result>>(events: {
  readonly begun: (data: RequestBegun) => Event
  readonly ended: (data: RequestEnded<Result>) => Event
}): RequestRules<Result, Event> {
  return {
    fold: { initialState: Object.freeze({ status: 'none' }), evolve: (request, { data }) => evolved(request, data) },
    begin: (command, request) => (recordedResponse(command, request) === null ? [events.begun(command.begun)] : []),
    end: (command, request) =>
      request.status === 'none' || request.status === 'completed' ? [] : [events.ended(command)],
  }
}

function evolved<Result extends { readonly kind: string }>(
  request: IdempotentRequest<Result>,
  data: RequestBegun | RequestEnded<Result>,
): IdempotentRequest<Result> {
  if (request.status === 'completed') return request
  if (!('answer' in data))
    return { status: 'begun', request_fingerprint: data.request_fingerprint, begun_at: data.occurred_at }
  if (request.status === 'none') return request
  const { request_fingerprint } = request
  const { answer: result } = data
  return isRequestFailed(result)
    ? { status: 'failed', request_fingerprint }
    : { status: 'completed', request_fingerprint, result }
}

function isRequestFailed(result: { readonly kind: string }): result is RequestFailed {
  return result.kind === 'failed'
}

/**
 * The recorded result of a request, or `null` when the request must be processed.
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`
 */
export function recordedResponse<Result>(
  { begun: { request_fingerprint, occurred_at }, inFlightMs }: RecordedResponseQuery,
  request: IdempotentRequest<Result>,
): Result | null {
  if (request.status === 'none') return null
  requireSameRequest(request, request_fingerprint)
  if (request.status === 'begun' && Date.parse(occurred_at) - Date.parse(request.begun_at) < inFlightMs)
    throw keyInFlight()
  return request.status === 'completed' ? request.result : null
}

type RecordedResponseQuery = {
  readonly begun: Pick<RequestBegun, 'request_fingerprint' | 'occurred_at'>
  readonly inFlightMs: number
}
