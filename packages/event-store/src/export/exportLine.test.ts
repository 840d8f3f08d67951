// Lines of an export and the events that they have, in both directions.
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import type { RawEvent } from '../read/rawEvent.ts'
import { eventOfLine, exportLine } from './exportLine.ts'

const json = 'application/json'

function event(data: string | Buffer, metadata: string | Buffer = '{}', changes: Partial<RawEvent> = {}): RawEvent {
  return {
    id: '00000000-0000-7000-8000-000000000001',
    stream: 'payment-1',
    revision: 7n,
    type: 'Noted',
    contentType: json,
    data: Buffer.from(data),
    metadata: Buffer.from(metadata),
    created: new Date(0),
    position: positionAt(70n),
    ...changes,
  }
}

const events: Readonly<Record<string, RawEvent>> = {
  'an object': event('{"a":{"b":[1,{"c":"}"}]},"d":"\\"}],"}'),
  'spaces and exact digits': event(' { "n" : 12345678901234567890.10 } ', '{ "x" : 1 }'),
  'a string, a number and a word': event('"a,}"', '12'),
  'a word': event('null', 'true'),
  'letters of all kinds': event('{"word":"ñ \u2028 😀 \\ud800"}'),
  'line breaks in data': event('{\n  "a": 1\r\n}\n'),
  'line breaks in metadata': event('{}', '{\n}'),
  'line breaks in both': event('[\n]', '\r{}'),
  'no JSON': event('no JSON', ''),
  'no UTF-8': event(Buffer.of(0xff, 0x00), Buffer.of(0xfe)),
  'a byte order mark': event('\ufeff{}'),
  'binary data that looks like JSON': event('{"a":\n1}', '{}', { contentType: 'application/octet-stream' }),
  nothing: event('', ''),
  'names with quotes': event('{}', '{}', { stream: 'pay"ment-\\1,"data":', type: 'No"ted\\' }),
  'an inner exact': event('{}', '{"exact":{"data":"YQ=="}}'),
  'the last revision': event('{}', '{}', { revision: 2n ** 63n - 1n }),
}

t.test('the event of a line has the bytes that were recorded', (t) => {
  for (const [name, recorded] of Object.entries(events)) {
    const { id, stream, revision, type, data, metadata } = recorded
    const line = exportLine(recorded)
    t.notMatch(line, /[\r\n]/, name)
    t.doesNotThrow(() => JSON.parse(line), name)
    const read = eventOfLine(Buffer.from(line))
    t.same(
      read && { ...read, data: Buffer.from(read.data), metadata: Buffer.from(read.metadata) },
      { id, stream, revision, type, data: Buffer.from(data), metadata: Buffer.from(metadata) },
      name,
    )
  }
  t.end()
})

t.test('only JSON on one line is readable in an export', (t) => {
  const readable = Object.entries(events).filter(([, recorded]) => exportLine(recorded).includes('"data":'))
  t.same(
    readable.map(([name]) => name),
    Object.keys(events).filter((name) => !/^(line breaks in (data|both)|no |a byte|binary|nothing)/.test(name)),
  )
  t.end()
})

t.test('a line that no export has is no event', (t) => {
  const line = exportLine(event('{}'))
  const changes = [
    '',
    '{}',
    'no JSON',
    line.slice(0, -1),
    `${line} `,
    line.replace('"data"', '"date"'),
    line.replace(',"metadata":{}', ''),
    `${line.slice(0, -1)},"more":1}`,
    line.replace('"data":{}', '"data":{},"data_base64":"e30="'),
    line.replace('"data":{}', '"data_base64":"e31="'),
    line.replace('"data":{}', '"data_base64":["e30="]'),
  ]
  for (const text of changes) t.equal(eventOfLine(Buffer.from(text)), undefined, text)
  t.end()
})
