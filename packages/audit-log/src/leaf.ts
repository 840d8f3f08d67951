// The leaf of an event in the tree of the log.
import { isSystemStream, type RawEvent } from '@paylog/event-store/read/rawEvent'
import { hashLeaf } from './tree.ts'

/**
 * What a leaf commits to. Position and time are not in it: the server assigns them, so that a copied log has others and
 * still the same tree.
 */
export type LeafFields = Pick<RawEvent, 'stream' | 'revision' | 'id' | 'type' | 'metadata' | 'data'>

/** The first byte of the leaf data. Another layout would have another one. */
const layout = 1

/** Whether an event is a leaf. The server's own events are none, because it may remove them. */
export const isLeaf = ({ stream }: Pick<RawEvent, 'stream'>) => !isSystemStream(stream)

/**
 * The bytes of an event that its leaf commits to: one byte 0x01, the revision in 8 bytes, then stream, id, type, metadata and
 * data, each after its length in 4 bytes. Numbers are unsigned and big-endian, texts UTF-8. No two events have the same
 * bytes.
 */
export function leafData({ stream, revision, id, type, metadata, data }: LeafFields): Buffer {
  const head = Buffer.alloc(9)
  head.writeUInt8(layout)
  head.writeBigUInt64BE(revision, 1)
  return Buffer.concat([
    head,
    ...[Buffer.from(stream), Buffer.from(id), Buffer.from(type), metadata, data].flatMap(sized),
  ])
}

export const leafHash = (event: LeafFields): Buffer => hashLeaf(leafData(event))

function sized(bytes: Uint8Array): readonly Uint8Array[] {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return [length, bytes]
}
