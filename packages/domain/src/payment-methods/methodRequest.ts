// A request with an Idempotency-Key to save a payment method: begun, and then answered, or free to be made again.
import { DomainError } from '../errors.ts'
import type { Fold } from '../messages.ts'
import type { MethodRequestEvent } from './events.ts'

type Requested = Extract<MethodRequestEvent, { type: 'PaymentMethodRequested' }>['data']
type Answered = Extract<MethodRequestEvent, { type: 'PaymentMethodRequestAnswered' }>['data']

/** An answer that a repeated request gets as well. */
export type KeptAnswer = Exclude<Answered['answer'], { kind: 'failed' }>

export type MethodRequest =
  | { readonly status: 'none' }
  | { readonly status: 'begun'; readonly request_fingerprint: string; readonly begun_at: string }
  | { readonly status: 'failed'; readonly request_fingerprint: string }
  | { readonly status: 'answered'; readonly request_fingerprint: string; readonly answer: KeptAnswer }

/**
 * For so long whoever began a request is taken to be still at it. It is a courtesy and no lock: a second one makes the same
 * call with the same key, and what both record is recorded once.
 */
export const inFlightMs = 20_000

export const methodRequestFold: Fold<MethodRequest, MethodRequestEvent> = {
  initialState: Object.freeze({ status: 'none' }),
  evolve(request, event) {
    if (request.status === 'answered') return request
    if (event.type === 'PaymentMethodRequested') {
      const { request_fingerprint, occurred_at: begun_at } = event.data
      return { status: 'begun', request_fingerprint, begun_at }
    }
    if (request.status === 'none') return request
    const { request_fingerprint } = request
    const { answer } = event.data
    return answer.kind === 'failed'
      ? { status: 'failed', request_fingerprint }
      : { status: 'answered', request_fingerprint, answer }
  },
}

/**
 * What a request that comes now is answered without being made; `null` when it has to be made.
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`
 */
export function keptAnswer(
  { request_fingerprint, occurred_at }: Pick<Requested, 'request_fingerprint' | 'occurred_at'>,
  request: MethodRequest,
): KeptAnswer | null {
  if (request.status === 'none') return null
  if (request.request_fingerprint !== request_fingerprint)
    throw new DomainError('idempotency_key_reused', 'This Idempotency-Key was used with another request')
  if (request.status === 'begun' && Date.parse(occurred_at) - Date.parse(request.begun_at) < inFlightMs)
    throw new DomainError('idempotency_key_in_flight', 'The first request with this key is still being worked on')
  return request.status === 'answered' ? request.answer : null
}

/** Begins a request, unless it is answered already. @throws what `keptAnswer` throws */
export function beginMethodRequest(command: Requested, request: MethodRequest): MethodRequestEvent[] {
  return keptAnswer(command, request) === null ? [{ type: 'PaymentMethodRequested', data: command }] : []
}

/** Records how it ended. The first answer that is kept stays. */
export function answerMethodRequest(command: Answered, request: MethodRequest): MethodRequestEvent[] {
  if (request.status === 'none' || request.status === 'answered') return []
  return [{ type: 'PaymentMethodRequestAnswered', data: command }]
}
