// Requests with an Idempotency-Key to save a method.
import type { MethodRequestEvent } from '@paylog/domain/payment-methods/events'
import { inFlightMs, type KeptAnswer, methodRequestRules } from '@paylog/domain/payment-methods/methodRequest'
import { paymentMethodRequestStream } from '@paylog/event-store/streamName'
import { keptRequests } from '../keptRequests.ts'

export const methodRequests = keptRequests<KeptAnswer, MethodRequestEvent>({
  rules: methodRequestRules,
  stream: paymentMethodRequestStream,
  inFlightMs,
})
