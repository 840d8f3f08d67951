// A stored event.

export type StoredEvent = {
  readonly position: bigint
  readonly stream: string
  readonly revision: bigint
  readonly eventId: string
  readonly type: string
  readonly isJson: boolean
  /** .NET ticks (100 ns) since 1970, as in the protocol. */
  readonly createdTicks: bigint
  readonly metadata: Buffer
  readonly data: Buffer
}

/** The place of a committed event, for the reply to an idempotent append. */
export type EventPlace = {
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  readonly eventId: string
  readonly createdTicks: bigint
}

/** The revision of a tombstone, and the `$tb` of a soft-deleted stream. */
export const deletedRevision = 9223372036854775807n

export const tombstoneType = '$streamDeleted'

export const ticksPerSecond = 10_000_000n

export function ticksNow(): bigint {
  return BigInt(Date.now()) * 10_000n
}
