// Results as lines of text with separate positions, so that those of the model and a server can be compared.
import { createHash } from 'node:crypto'
import type { Expected, WriteResponse } from './model.ts'
import type { Found, ReadResponse } from './reads.ts'
import type { Recorded } from './store.ts'
import type { Message } from './subscriptions.ts'

/** Positions are ranks in the model and numbers of a server, so only their pairs can be compared. */
export type Line<Position> = { readonly text: string; readonly at: readonly Position[] }

/** The fields of an event that both sides have. */
type EventParts = {
  readonly stream: string
  readonly revision: bigint | string
  readonly type: string
  readonly json: boolean
  readonly id: string
  readonly data: Uint8Array
  readonly meta: Uint8Array
}

const maxShownBytes = 60

export function eventText({ stream, revision, type, json, id, data, meta }: EventParts): string {
  return `${stream}#${revision} ${type} ${json ? 'json' : 'binary'} ${id} ${bytesText(data)} ${bytesText(meta)}`
}

function bytesText(bytes: Uint8Array): string {
  if (bytes.length <= maxShownBytes) return JSON.stringify(Buffer.from(bytes).toString('latin1'))
  return `${bytes.length} bytes ${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}`
}

export function acceptedText(revision: string): string {
  return `written, revision ${revision}`
}

export function wrongText(expected: string, current: string): string {
  return `wrong expected version: expected ${expected}, current ${current}`
}

export const removedText = 'removed'
export const deletedText = 'stream deleted'
export const notFoundText = 'stream not found'
export const unknownText = 'unknown error'
export const tooLargeText = 'too large'
export const noResponseText = 'no response'

/** No revision is -1 here, as in the trailers of a deletion. */
function expectedText(expected: Expected): string {
  return String(expected)
}

/** @param removal whether it is a deletion, whose reply has a position only */
export function writeLine(response: WriteResponse, expected: Expected, removal: boolean): Line<number> {
  if ('deleted' in response) return { text: deletedText, at: [] }
  if ('noResponse' in response) return { text: noResponseText, at: [] }
  if ('wrong' in response) return { text: wrongText(expectedText(expected), String(response.wrong.current)), at: [] }
  const { revision, position } = response.ok
  const text = removal ? removedText : acceptedText(String(revision))
  return position === undefined ? { text: `${text}, no position`, at: [] } : { text, at: [position] }
}

export function readLines(response: ReadResponse): Line<number>[] {
  if ('found' in response) return response.found.map(foundLine)
  const texts = { deleted: deletedText, 'not found': notFoundText, unknown: unknownText }
  return [{ text: texts[response.rejected], at: [] }]
}

export function messageLine(message: Message): Line<number> {
  if (typeof message === 'string') return { text: message, at: [] }
  if ('end' in message) return { text: deletedText, at: [] }
  return 'checkpoint' in message ? { text: checkpointText, at: [message.checkpoint] } : foundLine(message)
}

export const checkpointText = 'checkpoint'

function foundLine({ event, link }: Found): Line<number> {
  const originals = link === undefined ? [event] : [link, event]
  const known = originals.filter((each) => each !== undefined)
  return { text: foundText(event && textOf(event), link && textOf(link)), at: known.map(({ position }) => position) }
}

export function foundText(event: string | undefined, link: string | undefined): string {
  return link === undefined ? (event ?? 'nothing') : `${link} => ${event ?? 'nothing'}`
}

function textOf(event: Recorded): string {
  return eventText({ ...event, id: event.id ?? '?' })
}
