// One run against a server, with its names, its ids, and the pairs of server and model positions.
import { randomUUID } from 'node:crypto'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { readMessages, readRequest } from '../../rawReads.ts'
import type { ConformanceTarget } from '../target.ts'
import { type BatchStream, openBatchStream } from './batchStream.ts'

export type Session = {
  readonly client: StreamsClient
  /** See `ConformanceTarget`. */
  readonly isKurrentDb: boolean
  readonly batch: BatchStream
  /** The prefix in all stream names of the run, and in no others. */
  readonly prefix: string
  readonly ids: Map<string, string>
  readonly symbols: Map<string, string>
  /** The server's positions by the model's. */
  readonly positions: Map<number, bigint>
}

/** Stands for the last event before the run. */
export const beforeRun = -1

export async function openSession({ raw: client, isKurrentDb }: ConformanceTarget): Promise<Session> {
  const prefix = `model${randomUUID().slice(0, 13)}_`
  const { messages } = await readMessages(client, readRequest({ from: 'end', backwards: true, count: 1 }))
  const last = messages[0]?.getEvent()?.getCommitPosition()
  if (last === undefined) throw new Error('The log of the server is empty')
  const positions = new Map([[beforeRun, BigInt(last)]])
  const batch = openBatchStream(client)
  return { client, isKurrentDb, batch, prefix, ids: new Map(), symbols: new Map(), positions }
}

/** Adds the prefix, in `$$a` after the `$$`. */
export function nameOf({ prefix }: Session, stream: string): string {
  return stream.replace(/^(\$\$)*/, `$&${prefix}`)
}

/** Reverses `nameOf` in a text. */
export function withoutPrefix({ prefix }: Session, text: string): string {
  return text.replaceAll(prefix, '')
}

export function idOf(session: Session, symbol: string): string {
  const known = session.ids.get(symbol)
  if (known !== undefined) return known
  const id = randomUUID()
  session.ids.set(symbol, id)
  session.symbols.set(id, symbol)
  return id
}

/** `?` for events that the server generated. */
export function symbolOf(session: Session, id: string): string {
  return session.symbols.get(id) ?? '?'
}

/**
 * Pairs a position of the model with one of the server.
 *
 * @throws when they were paired otherwise before, or the two orders differ
 */
export function pair({ positions }: Session, model: number, server: bigint): void {
  const known = positions.get(model)
  if (known === server) return
  if (known !== undefined) throw new Error(`record ${model} was at ${known} and is at ${server}`)
  for (const [otherModel, otherServer] of positions) {
    if (otherModel < model !== otherServer < server || otherServer === server) {
      throw new Error(`record ${model} is at ${server}, but record ${otherModel} at ${otherServer}`)
    }
  }
  positions.set(model, server)
}
