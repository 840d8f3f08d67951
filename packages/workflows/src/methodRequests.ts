// The record of a request with an Idempotency-Key to save a method, around the call that it makes.
import type { EventMetadata } from '@paylog/domain/messages'
import type { MethodRequestEvent } from '@paylog/domain/payment-methods/events'
import {
  answerMethodRequest,
  beginMethodRequest,
  type KeptAnswer,
  keptAnswer,
  type MethodRequest,
  methodRequestFold,
} from '@paylog/domain/payment-methods/methodRequest'
import { paymentMethodRequestStream } from '@paylog/event-store/streamName'
import type { Workflow } from './context.ts'

export type RepeatableRequest = {
  /** Derived from the Idempotency-Key, when there is one. */
  readonly request_id: string
  /** SHA-256 of the request; null when the request has no Idempotency-Key, so that it leaves no record. */
  readonly request_fingerprint: string | null
  readonly metadata: EventMetadata
}

/**
 * What an earlier request with the same key was answered, if it was.
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `event_store_unavailable`
 */
export async function earlierAnswer(
  { store, now }: Workflow,
  { request_id, request_fingerprint }: RepeatableRequest,
): Promise<KeptAnswer | null> {
  if (request_fingerprint === null) return null
  const stream = paymentMethodRequestStream(request_id)
  const { state } = await store.load<MethodRequest, MethodRequestEvent>(stream, methodRequestFold)
  return keptAnswer({ request_fingerprint, occurred_at: now().toISOString() }, state)
}

/**
 * Begins a request: of many at the same time one does, and makes the call.
 * @returns what it is answered without a call, because another one was faster
 * @throws what `earlierAnswer` throws
 */
export async function beginRequest(
  { store, now }: Workflow,
  { request_id, request_fingerprint, metadata }: RepeatableRequest,
  provider_id: string,
): Promise<KeptAnswer | null> {
  if (request_fingerprint === null) return null
  const { state } = await store.handle<MethodRequest, MethodRequestEvent>({
    stream: paymentMethodRequestStream(request_id),
    fold: methodRequestFold,
    decide: (request) =>
      beginMethodRequest({ request_id, request_fingerprint, provider_id, occurred_at: now().toISOString() }, request),
    metadata,
  })
  return state.status === 'answered' ? state.answer : null
}

/** @throws DomainError `event_store_unavailable` */
export async function endRequest(
  { store, now }: Workflow,
  { request_id, request_fingerprint, metadata }: RepeatableRequest,
  answer: KeptAnswer | { readonly kind: 'failed' },
): Promise<void> {
  if (request_fingerprint === null) return
  await store.handle<MethodRequest, MethodRequestEvent>({
    stream: paymentMethodRequestStream(request_id),
    fold: methodRequestFold,
    decide: (request) =>
      answerMethodRequest({ request_id, occurred_at: now().toISOString(), answer: { ...answer } }, request),
    metadata,
  })
}
