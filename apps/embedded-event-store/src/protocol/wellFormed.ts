// Checks a request before the protobuf library decodes it. The library trusts every length: six bytes that claim a nested
// message of 2 GiB would block the process for half a minute.

/** The fields of a message that are messages themselves, by field number. */
export type Shape = { readonly [field: number]: Shape }

const noMessages: Shape = {}
const uuid: Shape = { 1: noMessages }
const proposedMessage: Shape = { 1: uuid, 2: noMessages }
const appendOptions: Shape = { 1: noMessages, 3: noMessages, 4: noMessages, 5: noMessages, 6: noMessages }

export const shapes = {
  read: {
    1: {
      1: { 1: noMessages, 3: noMessages, 4: noMessages },
      2: { 1: noMessages, 2: noMessages, 3: noMessages },
      6: noMessages,
      7: { 1: noMessages, 2: noMessages, 4: noMessages },
      8: noMessages,
      9: { 1: noMessages, 2: noMessages },
      10: noMessages,
    },
  },
  append: { 1: appendOptions, 2: proposedMessage },
  batchAppend: { 1: uuid, 2: appendOptions, 3: proposedMessage },
  delete: { 1: appendOptions },
  tombstone: { 1: appendOptions },
  empty: noMessages,
} as const satisfies Readonly<Record<string, Shape>>

const wireTypes = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 }
const maxVarintBytes = 10
/** An empty message takes two bytes, but hundreds as an object. The client sends at most 3 MiB of events, up to 280,000 fields. */
const maxFields = 400_000

/**
 * Whether every field, including nested ones, ends within its message, and there are not too many fields. Groups are not
 * supported.
 */
export function isWellFormed(bytes: Uint8Array, shape: Shape): boolean {
  return isMessage(bytes, shape, { from: 0, end: bytes.length }, { left: maxFields })
}

function isMessage(
  bytes: Uint8Array,
  shape: Shape,
  { from, end }: { readonly from: number; readonly end: number },
  fields: { left: number },
): boolean {
  let at = from
  while (at < end) {
    fields.left -= 1
    if (fields.left < 0) return false
    const tag = readVarint(bytes, at, end)
    const field = tag === undefined ? 0 : Math.floor(tag.value / 8)
    if (tag === undefined || field === 0) return false
    const next = endOfField(bytes, tag.value % 8, tag.next, end)
    if (next === undefined || next.end > end) return false
    const { content } = next
    const nested = shape[field]
    if (content !== undefined && nested !== undefined) {
      if (!isMessage(bytes, nested, { from: content, end: next.end }, fields)) return false
    }
    at = next.end
  }
  return true
}

/** Where a field ends, and where its content starts if it is length-delimited. */
function endOfField(
  bytes: Uint8Array,
  wireType: number,
  at: number,
  end: number,
): { readonly end: number; readonly content?: number } | undefined {
  switch (wireType) {
    case wireTypes.varint: {
      const varint = readVarint(bytes, at, end)
      return varint && { end: varint.next }
    }
    case wireTypes.fixed64:
      return { end: at + 8 }
    case wireTypes.fixed32:
      return { end: at + 4 }
    case wireTypes.delimited: {
      const length = readVarint(bytes, at, end)
      return length && { end: length.next + length.value, content: length.next }
    }
    default:
      return undefined
  }
}

/** Inexact beyond 2^53, which is far more than any valid length or tag. */
function readVarint(
  bytes: Uint8Array,
  at: number,
  end: number,
): { readonly value: number; readonly next: number } | undefined {
  let value = 0
  let factor = 1
  for (let index = at; index < end && index - at < maxVarintBytes; index += 1) {
    const byte = bytes[index] ?? 0
    value += (byte & 127) * factor
    if (byte < 128) return { value, next: index + 1 }
    factor *= 128
  }
  return undefined
}
