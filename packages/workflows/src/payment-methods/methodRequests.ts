// Requests with an Idempotency-Key to save a method.
import type { MethodRequestEvent } from '@paylog/domain/payment-methods/events'
import {
  methodRequestInFlightMs,
  type RecordedResponse,
  methodRequestRules,
} from '@paylog/domain/payment-methods/methodRequest'
import { paymentMethodRequestStream } from '@paylog/event-store/streamName'
import { idempotentRequests } from '../idempotentRequests.ts'

export const methodRequests = idempotentRequests<RecordedResponse, MethodRequestEvent>({
  rules: methodRequestRules,
  stream: paymentMethodRequestStream,
  inFlightMs: methodRequestInFlightMs,
})
