// The record of a request with an Idempotency-Key, around what it does.

import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import {
  type BeginRequest,
  type RequestBegun,
  type RequestEnded,
  type RequestFailed,
  type RequestRules,
  recordedResponse,
} from '@paylog/domain/idempotentRequest'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { StreamName } from '@paylog/event-store/streamName'
import type { Workflow } from './context.ts'

export type RepeatableRequest = {
  /** Derived from the Idempotency-Key, when there is one. */
  readonly request_id: string
  /** SHA-256 of the request; null when the request has no Idempotency-Key, so that it leaves no record. */
  readonly request_fingerprint: string | null
  readonly metadata: EventMetadata
}

/** Requests of one kind. */
export type RequestKind<
  Answer extends { readonly kind: string },
  Event extends RecordedDomainEvent & { readonly data: RequestBegun | RequestEnded<Answer> },
> = {
  readonly rules: RequestRules<Answer, Event>
  readonly stream: (request_id: string) => StreamName
  /** For so long the first request is taken to be still worked on. */
  readonly inFlightMs: number
}

export type RecordedAnswer<Answer> = { readonly answer: Answer; readonly position: LogPosition | undefined }

export function idempotentRequests<
  Answer extends { readonly kind: string },
  Event extends RecordedDomainEvent & { readonly data: RequestBegun | RequestEnded<Answer> },
>({ rules, stream, inFlightMs }: RequestKind<Answer, Event>) {
  const { fold } = rules
  return {
    /**
     * What an earlier request with the same key was answered, if it was.
     * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `event_store_unavailable`
     */
    async earlier(
      { store, now }: Workflow,
      { request_id, request_fingerprint }: RepeatableRequest,
    ): Promise<RecordedAnswer<Answer> | null> {
      if (request_fingerprint === null) return null
      const { state, position } = await store.load(stream(request_id), fold)
      const begun = { request_fingerprint, occurred_at: now().toISOString() }
      const answer = recordedResponse({ begun, inFlightMs }, state)
      return answer === null ? null : { answer, position }
    },
    /**
     * Begins a request: of many at the same time one does, and goes on.
     * @returns what it is answered without going on, because another one was faster
     * @throws what `earlier` throws
     */
    async begin(
      { store, now }: Workflow,
      { request_id, request_fingerprint, metadata }: RepeatableRequest,
      provider_id: string,
    ): Promise<RecordedAnswer<Answer> | null> {
      if (request_fingerprint === null) return null
      const command = (): BeginRequest => ({
        begun: { request_id, request_fingerprint, provider_id, occurred_at: now().toISOString() },
        inFlightMs,
      })
      const { state, position } = await store.handle({
        stream: stream(request_id),
        fold,
        decide: (request) => rules.begin(command(), request),
        metadata,
      })
      return state.status === 'answered' ? { answer: state.answer, position } : null
    },
    /**
     * Records how a request ended.
     * @returns what is on record of it: its answer, unless another one with the same key was faster; `null` without an
     *   answer that is kept
     * @throws DomainError `event_store_unavailable`
     */
    async end(
      { store, now }: Workflow,
      { request_id, request_fingerprint, metadata }: RepeatableRequest,
      answer: Answer | RequestFailed,
    ): Promise<(RecordedAnswer<Answer> & { readonly isEarlier: boolean }) | null> {
      if (request_fingerprint === null) return null
      const { state, position, events } = await store.handle({
        stream: stream(request_id),
        fold,
        decide: (request) => rules.end({ request_id, occurred_at: now().toISOString(), answer }, request),
        metadata,
      })
      return state.status === 'answered' ? { answer: state.answer, position, isEarlier: events.length === 0 } : null
    },
  }
}
