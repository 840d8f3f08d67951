// A request with an Idempotency-Key to save a payment method.
import { requestRules } from '../idempotentRequest.ts'
import type { MethodRequestEvent } from './events.ts'

type RequestAnswered = Extract<MethodRequestEvent, { type: 'PaymentMethodRequestAnswered' }>['data']

/** An answer that a repeated request gets as well. */
export type RecordedResponse = Exclude<RequestAnswered['answer'], { kind: 'failed' }>

/** Longer than a request with all its calls takes. */
export const methodRequestInFlightMs = 20_000

export const methodRequestRules = requestRules<RecordedResponse, MethodRequestEvent>({
  begun: (data) => ({ type: 'PaymentMethodRequested', data }),
  ended: (data) => ({ type: 'PaymentMethodRequestAnswered', data }),
})
