// Records requests that carry an Idempotency-Key, and finds the response to an earlier request.
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
  /** Derived from the Idempotency-Key; random without one. */
  readonly request_id: string
  /** SHA-256 of the request; null without an Idempotency-Key, when nothing is recorded. */
  readonly request_fingerprint: string | null
  readonly metadata: EventMetadata
}

/** Requests of one kind. */
export type RequestKind<
  Response extends { readonly kind: string },
  Event extends RecordedDomainEvent & { readonly data: RequestBegun | RequestEnded<Response> },
> = {
  readonly rules: RequestRules<Response, Event>
  readonly stream: (request_id: string) => StreamName
  /** How long we assume the first request is still running. */
  readonly inFlightMs: number
}

export type StoredResponse<Response> = { readonly response: Response; readonly position: LogPosition | undefined }

export function idempotentRequests<
  Response extends { readonly kind: string },
  Event extends RecordedDomainEvent & { readonly data: RequestBegun | RequestEnded<Response> },
>({ rules, stream, inFlightMs }: RequestKind<Response, Event>) {
  const { fold } = rules
  return {
    /**
     * The response to an earlier request with the same key, or null.
     * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `event_store_unavailable`
     */
    async earlier(
      { store, now }: Workflow,
      { request_id, request_fingerprint }: RepeatableRequest,
    ): Promise<StoredResponse<Response> | null> {
      if (request_fingerprint === null) return null
      const { state, position } = await store.load(stream(request_id), fold)
      const begun = { request_fingerprint, occurred_at: now().toISOString() }
      const response = recordedResponse({ begun, inFlightMs }, state)
      return response === null ? null : { response, position }
    },
    /**
     * Records that a request begins. Of concurrent requests only one may continue.
     * @returns null when this request may continue, or the response that a concurrent request recorded
     * @throws DomainError like `earlier`
     */
    async begin(
      { store, now }: Workflow,
      { request_id, request_fingerprint, metadata }: RepeatableRequest,
      provider_id: string,
    ): Promise<StoredResponse<Response> | null> {
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
      return state.status === 'completed' ? { response: state.result, position } : null
    },
    /**
     * Records the response to a request. The first recorded response is final.
     * @returns the recorded response, which may be that of an earlier request; `null` if none is recorded
     * @throws DomainError `event_store_unavailable`
     */
    async end(
      { store, now }: Workflow,
      { request_id, request_fingerprint, metadata }: RepeatableRequest,
      response: Response | RequestFailed,
    ): Promise<(StoredResponse<Response> & { readonly isEarlier: boolean }) | null> {
      if (request_fingerprint === null) return null
      const { state, position, events } = await store.handle({
        stream: stream(request_id),
        fold,
        decide: (request) => rules.end({ request_id, occurred_at: now().toISOString(), answer: response }, request),
        metadata,
      })
      return state.status === 'completed' ? { response: state.result, position, isEarlier: events.length === 0 } : null
    },
  }
}
