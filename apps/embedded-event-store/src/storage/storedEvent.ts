// The event as every other part of the node knows it.

export type StoredEvent = {
  readonly position: bigint
  readonly stream: string
  readonly revision: bigint
  readonly eventId: string
  readonly type: string
  readonly isJson: boolean
  /** .NET ticks since 1970 (100 ns), as the protocol carries them. */
  readonly createdTicks: bigint
  readonly metadata: Buffer
  readonly data: Buffer
}

/** Where an already committed event is: what an idempotent append answers with. */
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
