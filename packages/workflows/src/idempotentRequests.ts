// Requests with an Idempotency-Key whose result is recorded in a stream of their own: each is processed once, and its
// response is replayed.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import {
  type RequestBegun,
  type RequestEnded,
  type RequestFailed,
  type RequestRules,
  recordedResponse,
} from '@paylog/domain/idempotentRequest'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { StreamName } from '@paylog/event-store/streamName'
import type { Workflow } from './context.ts'
import { beginOperation } from './providerOperation.ts'

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

/** What a request does. */
export type RequestWork<Response, Outcome> = {
  readonly provider_id: string
  /** @param metadata for what it records: the begin of the request is its cause */
  readonly process: (metadata: EventMetadata) => Promise<Outcome>
  /** The response to record. */
  readonly responseOf: (outcome: Outcome) => Response
  /** The response to record for an error, if that is final too. */
  readonly finalError?: (error: unknown) => Response | undefined
}

/** Either what this request did, or the response to an earlier one with the same key. */
export type Processed<Response, Outcome> =
  /** `position` is that of the recorded response; undefined without a key. */
  | { readonly outcome: Outcome; readonly position?: LogPosition | undefined; readonly replayed?: undefined }
  | {
      readonly outcome?: undefined
      readonly position?: undefined
      readonly replayed: { readonly response: Response; readonly position: LogPosition | undefined }
    }

/**
 * Processes a request, or finds the response to an earlier one with the same key. The first recorded response is final.
 * @param prepare validates the request. Not called for a repeated one
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `event_store_unavailable`, and what `prepare`
 *   and the work throw
 */
export async function processOnce<
  Response extends { readonly kind: string },
  Event extends RecordedDomainEvent & { readonly data: RequestBegun | RequestEnded<Response> },
  Outcome,
>(
  workflow: Workflow,
  { rules, stream, inFlightMs }: RequestKind<Response, Event>,
  { request_id, request_fingerprint, metadata }: RepeatableRequest,
  prepare: () => Promise<RequestWork<Response, Outcome>>,
): Promise<Processed<Response, Outcome>> {
  if (request_fingerprint === null) return { outcome: await (await prepare()).process(metadata) }
  const known = await workflow.store.load(stream(request_id), rules.fold)
  const now = () => workflow.now().toISOString()
  const earlier = recordedResponse({ begun: { request_fingerprint, occurred_at: now() }, inFlightMs }, known.state)
  if (earlier !== null) return { replayed: { response: earlier, position: known.position } }
  const { provider_id, process, responseOf, finalError } = await prepare()
  type Ended = { readonly answer: Response | RequestFailed } & (
    | { readonly outcome: Outcome }
    | { readonly error: unknown }
  )
  const processed = await beginOperation(
    workflow,
    {
      stream: stream(request_id),
      fold: rules.fold,
      async call(_request, metadata): Promise<Ended> {
        try {
          const outcome = await process(metadata)
          return { outcome, answer: responseOf(outcome) }
        } catch (error) {
          // Recording would fail as well. The key is free again after `inFlightMs`.
          if (error instanceof DomainError && error.code === 'event_store_unavailable') throw error
          return { error, answer: finalError?.(error) ?? { kind: 'failed' } }
        }
      },
      done: ({ answer }, { state, occurred_at }) => rules.end({ request_id, occurred_at, answer }, state),
    },
    (request, occurred_at) =>
      rules.begin({ begun: { request_id, request_fingerprint, provider_id, occurred_at }, inFlightMs }, request),
    { known, metadata },
  )
  const { result, state, position } = processed
  if (result && 'error' in result) throw result.error
  // If a slow request was overtaken by its repetition, both return the recorded response.
  if (result && (processed.events.length > 0 || state.status !== 'completed'))
    return { outcome: result.outcome, position }
  if (state.status !== 'completed') throw new Error('a request that may not begin has a response')
  return { replayed: { response: state.result, position } }
}
