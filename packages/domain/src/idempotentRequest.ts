// Requests with an Idempotency-Key: reuse of a key, requests in progress, and recorded responses.
import { type Static, Type } from 'typebox'
import { DomainError } from './errors.ts'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant } from './fields.ts'
import { PersonalText } from './personalData.ts'
import { SyncReport } from './products/syncReport.ts'

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

/** A final result, which a repeated request gets as well. */
const FinalResponse = Type.Union([
  Type.Object({
    kind: Type.Literal('saved'),
    payment_method_id: Id,
    /** The revision of the method's stream that the response showed. */
    revision: Type.Integer(),
    /** False when the owner had saved the method before. */
    created: Type.Boolean(),
    /** Whether the response showed it as the default. */
    is_default: Type.Boolean(),
  }),
  /** The provider declined to save the method. The message is worded by us: it says nothing about the person. */
  Type.Object({ kind: Type.Literal('declined'), message: Type.String() }),
  /** Of a product sync. */
  Type.Object({ kind: Type.Literal('reported'), report: SyncReport }),
])
export type FinalResponse = Static<typeof FinalResponse>

/** `failed`: without a final result. The request may be repeated at once. */
const RecordedEnd = Type.Union([FinalResponse, Type.Object({ kind: Type.Literal('failed') })])
export type RecordedEnd = Static<typeof RecordedEnd>

const facts = { request_id: Id, occurred_at: Instant }

/** The events of requests whose response is recorded in a separate stream: saving a method, and a product sync. */
export const idempotentRequestEvents = {
  /** A request with an Idempotency-Key is about to be processed. */
  IdempotentRequestStarted: Type.Object({
    ...facts,
    provider_id: Type.String(),
    /** SHA-256 of the request, which may hold billing details. */
    request_fingerprint: PersonalText,
  }),
  IdempotentRequestEnded: Type.Object({
    ...facts,
    response: RecordedEnd,
  }),
}
export type IdempotentRequestEvent = EventsOf<typeof idempotentRequestEvents>
type Started = Extract<IdempotentRequestEvent, { type: 'IdempotentRequestStarted' }>['data']
type Ended = Extract<IdempotentRequestEvent, { type: 'IdempotentRequestEnded' }>['data']

/** Null before the request begins. */
export type IdempotentRequest = {
  /** Null when its caller was erased: the key cannot be used again. */
  readonly request_fingerprint: string | null
  readonly started_at: string
  /** Null while the request is in progress. */
  readonly response: RecordedEnd | null
} | null

export const idempotentRequestFold: Fold<IdempotentRequest, IdempotentRequestEvent> = {
  initialState: null,
  evolve(request, event) {
    if (finalResponse(request) !== null) return request
    if (event.type === 'IdempotentRequestEnded') return request && { ...request, response: event.data.response }
    const { request_fingerprint, occurred_at: started_at } = event.data
    return { request_fingerprint, started_at, response: null }
  },
}

/** The result that a repeated request gets; null if there is none. */
export function finalResponse(request: IdempotentRequest): FinalResponse | null {
  const response = request?.response ?? null
  return response?.kind === 'failed' ? null : response
}

/**
 * How long we assume that the first caller is still working on a request. This is an optimization, not a lock: a second
 * caller would make the same calls with the same keys, and the first recorded end is final.
 */
export const requestInFlightMs = 20_000

export type StartRequest = Omit<Started, 'provider_id'> & {
  /** `requestInFlightMs`, or more for a request with many provider calls. */
  readonly inFlightMs: number
}

/**
 * The recorded result of a request, or `null` when the request must be processed.
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`
 */
export function recordedResponse(
  { request_fingerprint, occurred_at, inFlightMs }: StartRequest,
  request: IdempotentRequest,
): FinalResponse | null {
  if (request === null) return null
  requireSameRequest(request, request_fingerprint)
  const isRecent = Date.parse(occurred_at) - Date.parse(request.started_at) < inFlightMs
  if (request.response === null && isRecent) throw keyInFlight()
  return finalResponse(request)
}

/** Starts a request, unless it has a final result. @throws the errors of `recordedResponse` */
export function startRequest(
  { inFlightMs, ...data }: StartRequest & Started,
  request: IdempotentRequest,
): IdempotentRequestEvent[] {
  if (recordedResponse({ ...data, inFlightMs }, request) !== null) return []
  return [{ type: 'IdempotentRequestStarted', data }]
}

/** Records the result. The first final result stays. */
export function endRequest(data: Ended, request: IdempotentRequest): IdempotentRequestEvent[] {
  if (request === null || finalResponse(request) !== null) return []
  return [{ type: 'IdempotentRequestEnded', data }]
}
