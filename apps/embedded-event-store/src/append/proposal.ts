// Proposed writes and their outcomes.

/** Expected revisions with the protocol's numbers; 0 and above is exact. */
export const expectAny = -2n
export const expectNoStream = -1n
export const expectStreamExists = -4n

export type ProposedEvent = {
  readonly eventId: string
  readonly type: string
  readonly isJson: boolean
  readonly metadata: Buffer
  readonly data: Buffer
}

type Target = { readonly stream: string; readonly expected: bigint }

export type Proposal =
  | (Target & { readonly kind: 'append'; readonly events: readonly ProposedEvent[] })
  | (Target & { readonly kind: 'delete' })
  | (Target & { readonly kind: 'tombstone' })

export type Outcome =
  | {
      readonly kind: 'done'
      /** -1 for an empty append to a stream without events. */
      readonly revision: bigint
      /** Absent when the event that an idempotent append found is truncated. */
      readonly position: bigint | undefined
    }
  | { readonly kind: 'wrong_expected_version'; readonly current: bigint }
  | { readonly kind: 'stream_deleted' }
  | { readonly kind: 'timeout' }
  /** Postgres had no space, and nothing was written. */
  | { readonly kind: 'no_space' }
  /** Nothing was written, and no reply is sent, because EventStoreDB fails to build its reply here. */
  | { readonly kind: 'no_response' }

/** Never settles: the call stays open until the client gives up. Garbage collection frees the promise. */
export function noResponse(): Promise<never> {
  return new Promise(() => undefined)
}
