// An event as `streams read` shows it: as it was recorded, whatever this program makes of it.
import { type Codec, domainCodec } from '@paylog/event-store/codec/codec'
import { decodeRaw } from '@paylog/event-store/raw/decodeRaw'
import type { RawEvent } from '@paylog/event-store/raw/rawEvent'
import { exportLine } from './exportLine.ts'

type EventDecoder = Pick<Codec, 'decode'>

/** As machines read it: the line of an export, and why this program cannot read it if that is so. */
export function eventJson(event: RawEvent, codec: EventDecoder = domainCodec): string {
  const decoded = decodeRaw(event, codec)
  const line = exportLine(event)
  return decoded instanceof Error ? `${line.slice(0, -1)},"unreadable":${JSON.stringify(decoded.message)}}` : line
}

/** As people read it: what this program knows field by field, anything else as the line of an export. */
export function eventText(event: RawEvent, codec: EventDecoder = domainCodec): string {
  const decoded = decodeRaw(event, codec)
  const { revision, type, created } = event
  const head = `${revision}  ${type}  ${created.toISOString()}`
  if (decoded instanceof Error)
    return [`${head}  as recorded: ${decoded.message}`, `    ${exportLine(event)}`].join('\n')
  const fields = recordedFields(event)
  const width = Math.max(...fields.map(([key]) => key.length))
  const facts = fields.map(([key, value]) => `    ${key.padEnd(width)}  ${JSON.stringify(value)}`)
  return [`${head}  by ${decoded.metadata.actor}`, ...facts].join('\n')
}

/** Of data that fits a schema of ours, and so is a JSON object; the newest shape of its type may have other fields. */
function recordedFields({ data }: RawEvent): [string, unknown][] {
  const recorded: unknown = JSON.parse(Buffer.from(data).toString())
  return typeof recorded === 'object' && recorded !== null ? Object.entries(recorded) : []
}
