// What an Idempotency-Key is answered that came before: with another request, or with one that is still being worked on.

import { type Static, type TSchema, Type } from 'typebox'
import { DomainError } from './errors.ts'
import type { Fold } from './events.ts'
import { Id, Instant } from './fields.ts'

/**
 * @param first what is on record of the request that the key came with first
 * @param request_fingerprint of the one that it comes with now
 * @throws DomainError `idempotency_key_reused` when they are not the same
 */
export function requireSameRequest(
  first: { readonly request_fingerprint: string | null },
  request_fingerprint: string | null,
): void {
  if (first.request_fingerprint !== request_fingerprint)
    throw new DomainError('idempotency_key_reused', 'This Idempotency-Key was used with another request')
}

/** @param details what the caller may ask about meanwhile */
export function keyInFlight(details?: { readonly payment_id: string }): DomainError {
  return new DomainError(
    'idempotency_key_in_flight',
    'The first request with this key is still being worked on',
    details,
  )
}

// A request with an Idempotency-Key whose answer is kept: begun, and then answered, or free to be made again.

/** A request that is about to be carried out. */
export const RequestBegun = Type.Object({
  request_id: Id,
  occurred_at: Instant,
  provider_id: Type.String(),
  /** SHA-256 of the request. */
  request_fingerprint: Type.String(),
})
export type RequestBegun = Static<typeof RequestBegun>

/** It came to nothing that is kept: the same request may be made again at once. */
const RequestFailed = Type.Object({ kind: Type.Literal('failed') })
export type RequestFailed = Static<typeof RequestFailed>

/** How a request was answered. What is not on record here may be asked again. @param finalAnswer the answers that are for good */
export const requestEnded = <Kept extends TSchema>(finalAnswer: Kept) =>
  Type.Object({ request_id: Id, occurred_at: Instant, answer: Type.Union([finalAnswer, RequestFailed]) })

export type RequestEnded<Answer> = {
  readonly request_id: string
  readonly occurred_at: string
  readonly answer: Answer | RequestFailed
}

/** An event of requests of one kind. */
type RequestEvent<Answer> = { readonly type: string; readonly data: RequestBegun | RequestEnded<Answer> }

/** @typeParam Answer what a repeated request gets as well */
export type IdempotentRequest<Answer> =
  | { readonly status: 'none' }
  | { readonly status: 'begun'; readonly request_fingerprint: string; readonly begun_at: string }
  | { readonly status: 'failed'; readonly request_fingerprint: string }
  | { readonly status: 'answered'; readonly request_fingerprint: string; readonly answer: Answer }

export type BeginRequest = {
  readonly begun: RequestBegun
  /**
   * For so long whoever began a request is taken to be still at it. It is a courtesy and no lock: a second one makes the
   * same calls with the same keys, and what both record is recorded once.
   */
  readonly inFlightMs: number
}

/** Requests of one kind. */
export type RequestRules<Answer extends { readonly kind: string }, Event extends RequestEvent<Answer>> = {
  readonly fold: Fold<IdempotentRequest<Answer>, Event>
  /** Begins a request, unless it is answered already. @throws what `keptAnswer` throws */
  readonly begin: (command: BeginRequest, request: IdempotentRequest<Answer>) => Event[]
  /** Records how it ended. The first answer that is kept stays. */
  readonly end: (command: RequestEnded<Answer>, request: IdempotentRequest<Answer>) => Event[]
}

/** @param events make the two events of this kind */
export function requestRules<Answer extends { readonly kind: string }, Event extends RequestEvent<Answer>>(events: {
  readonly begun: (data: RequestBegun) => Event
  readonly ended: (data: RequestEnded<Answer>) => Event
}): RequestRules<Answer, Event> {
  return {
    fold: { initialState: Object.freeze({ status: 'none' }), evolve: (request, { data }) => evolved(request, data) },
    begin: (command, request) => (recordedResponse(command, request) === null ? [events.begun(command.begun)] : []),
    end: (command, request) =>
      request.status === 'none' || request.status === 'answered' ? [] : [events.ended(command)],
  }
}

function evolved<Answer extends { readonly kind: string }>(
  request: IdempotentRequest<Answer>,
  data: RequestBegun | RequestEnded<Answer>,
): IdempotentRequest<Answer> {
  if (request.status === 'answered') return request
  if (!('answer' in data))
    return { status: 'begun', request_fingerprint: data.request_fingerprint, begun_at: data.occurred_at }
  if (request.status === 'none') return request
  const { request_fingerprint } = request
  const { answer } = data
  return isRequestFailed(answer)
    ? { status: 'failed', request_fingerprint }
    : { status: 'answered', request_fingerprint, answer }
}

function isRequestFailed(answer: { readonly kind: string }): answer is RequestFailed {
  return answer.kind === 'failed'
}

/**
 * What a request that comes now is answered without being carried out; `null` when it has to be.
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`
 */
export function recordedResponse<Answer>(
  { begun: { request_fingerprint, occurred_at }, inFlightMs }: RecordedResponseQuery,
  request: IdempotentRequest<Answer>,
): Answer | null {
  if (request.status === 'none') return null
  requireSameRequest(request, request_fingerprint)
  if (request.status === 'begun' && Date.parse(occurred_at) - Date.parse(request.begun_at) < inFlightMs)
    throw keyInFlight()
  return request.status === 'answered' ? request.answer : null
}

type RecordedResponseQuery = {
  readonly begun: Pick<RequestBegun, 'request_fingerprint' | 'occurred_at'>
  readonly inFlightMs: number
}
