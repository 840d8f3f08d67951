// Requests with an Idempotency-Key whose result is recorded in a separate stream: each is processed once, and its
// response is replayed.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import {
  endRequest,
  type FinalResponse,
  finalResponse,
  type IdempotentRequest,
  type IdempotentRequestEvent,
  idempotentRequestFold,
  type RecordedEnd,
  recordedResponse,
  startRequest,
} from '@paylog/domain/idempotentRequest'
import { subjectNamed } from '@paylog/domain/personalData'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { idempotentRequestStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { beginOperation, type ProviderOperation } from '../provider-calls/providerOperation.ts'

export type RepeatableRequest = {
  /** Derived from the Idempotency-Key; random without one. */
  readonly request_id: string
  /** SHA-256 of the request; null without an Idempotency-Key, when nothing is recorded. */
  readonly request_fingerprint: string | null
  readonly metadata: EventMetadata
}

/** What a request does. */
export type RequestWork<Outcome> = {
  readonly provider_id: string
  /** @param metadata for what it records: the start of the request is its cause */
  readonly process: (metadata: EventMetadata) => Promise<Outcome>
  /** The response to record. */
  readonly responseOf: (outcome: Outcome) => FinalResponse
  /** The response to record for an error, if that is final too. */
  readonly finalError?: (error: unknown) => FinalResponse | undefined
}

/** Either what this request did, or the response to an earlier one with the same key. */
export type Processed<Outcome> =
  /** `position` is that of the recorded response; undefined without a key. */
  | { readonly replayed: false; readonly outcome: Outcome; readonly position: LogPosition | undefined }
  | { readonly replayed: true; readonly response: FinalResponse; readonly position: LogPosition | undefined }

type OwnedRequest = RepeatableRequest & {
  /** Whose request it is; see `ownerOf`. */
  readonly owner: string
}

/**
 * Processes a request, or finds the response to an earlier one with the same key. The first recorded response is final.
 * @param inFlightMs how long we assume the first request is still running
 * @param prepare validates the request. Not called for a repeated one
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `event_store_unavailable`, and what `prepare`
 *   and the work throw
 */
export async function processOnce<Outcome>(
  workflow: Workflow,
  { request_id, request_fingerprint, owner, metadata }: OwnedRequest,
  inFlightMs: number,
  prepare: () => Promise<RequestWork<Outcome>>,
): Promise<Processed<Outcome>> {
  if (request_fingerprint === null) {
    const outcome = await (await prepare()).process(metadata)
    return { replayed: false, outcome, position: undefined }
  }
  const stream = idempotentRequestStream(request_id)
  const fold = { ...idempotentRequestFold, subjectOf: () => subjectNamed(owner) }
  const assumed = await workflow.store.load(stream, fold)
  const start = { request_id, request_fingerprint, inFlightMs }
  const occurred_at = workflow.now().toISOString()
  if (recordedResponse({ ...start, occurred_at }, assumed.state) !== null) return replayed(assumed)
  const { provider_id, process, responseOf, finalError } = await prepare()
  type Ended = { readonly response: RecordedEnd } & ({ readonly outcome: Outcome } | { readonly error: unknown })
  const operation: ProviderOperation<IdempotentRequest, IdempotentRequestEvent, Ended> = {
    stream,
    fold,
    async call(_request, caused) {
      try {
        const outcome = await process(caused)
        return { outcome, response: responseOf(outcome) }
      } catch (error) {
        // Recording would fail as well. The key is free again after `inFlightMs`.
        if (error instanceof DomainError && error.code === 'event_store_unavailable') throw error
        return { error, response: finalError?.(error) ?? { kind: 'failed' } }
      }
    },
    done: ({ response }, { state, occurred_at }) => endRequest({ request_id, occurred_at, response }, state),
  }
  const begin = (request: IdempotentRequest, occurred_at: string) =>
    startRequest({ ...start, occurred_at, provider_id }, request)
  const ended = await beginOperation(workflow, operation, begin, { assumed, metadata })
  const { result } = ended
  if (result && 'error' in result) throw result.error
  // If a slow request was overtaken by its repetition, both return the recorded response.
  if (!result || ended.events.length === 0) return replayed(ended)
  return { replayed: false, outcome: result.outcome, position: ended.position }
}

function replayed({ state, position }: LoadedState<IdempotentRequest>): Processed<never> {
  const response = finalResponse(state)
  if (response === null) throw new Error('a request that may not start has a response')
  return { replayed: true, response, position }
}
