// Random steps, weighted by how much they reveal.
import fc from 'fast-check'
import type {
  EventIntent,
  ExpectedIntent,
  Intent,
  LinkIntent,
  MetadataIntent,
  PositionIntent,
  Repetition,
  RevisionIntent,
} from './intents.ts'
import type { Filter } from './reads.ts'

const stream = fc.constantFrom('a', 'a', 'b', 'c')
const readableStream = fc.constantFrom('a', 'a', 'b', 'c', 'l', '$$a', '$$b', '$$l', 'nothing', '$$nothing')
const small = (min: number, max: number) => fc.integer({ min, max })

const expected: fc.Arbitrary<ExpectedIntent> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('any' as const) },
  { weight: 3, arbitrary: fc.constant('no_stream' as const) },
  { weight: 2, arbitrary: fc.constant('stream_exists' as const) },
  { weight: 4, arbitrary: fc.constant({ offset: 0 }) },
  { weight: 2, arbitrary: small(-4, -1).map((offset) => ({ offset })) },
  { weight: 1, arbitrary: small(1, 3).map((offset) => ({ offset })) },
)

const sent = { expected, via: fc.constantFrom('batch' as const, 'unary' as const), chunks: small(1, 3) }

const event: fc.Arbitrary<EventIntent> = fc.record({
  type: fc.constantFrom('T', 'T', 'T', 'U', '$odd', 'Tür'),
  content: fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom('json' as const, 'binary' as const) },
    { weight: 3, arbitrary: fc.constant('large' as const) },
    { weight: 1, arbitrary: fc.constant('huge' as const) },
  ),
  meta: fc.boolean(),
})

const appending = fc.record({
  do: fc.constant('append' as const),
  stream,
  events: fc.array(event, { maxLength: 5 }),
  ...sent,
})

const repetitions: Repetition[] = [
  'the same',
  'a prefix',
  'a suffix',
  'extended',
  'reversed',
  'in another stream',
  'doubled',
]
const repeating = fc.record({
  do: fc.constant('repeat' as const),
  back: small(0, 7),
  how: fc.constantFrom(...repetitions),
  asBefore: fc.boolean(),
  ...sent,
  // Only without an exact revision do ids alone decide.
  expected: fc.oneof(fc.constantFrom('any' as const, 'stream_exists' as const), expected),
})

const linkTarget: fc.Arbitrary<LinkIntent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ stream: fc.constantFrom('a', 'b', 'c', '$$a', 'nothing'), offset: small(-4, 1) }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('-1@a', '+0@a', '-7@a', 'x@a', '1', '1@', '{"a":1}').map((text) => ({ text })),
  },
)
const linking = fc.record({
  do: fc.constant('link' as const),
  targets: fc.array(linkTarget, { minLength: 1, maxLength: 3 }),
  ...sent,
})

const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const sensibleProperties = fc.record(
  {
    owner: fc.constantFrom('x', 'ä€😀', { deep: [1, 2.5, null, true] }),
    $maxCount: small(1, 4),
    $tb: small(0, 3),
    $maxAge: fc.constant(100_000),
    $acl: fc.constant({ $r: 'x', $w: ['y', 'z'] }),
  },
  { requiredKeys: [] },
)
const oddProperties = fc.record(
  {
    $maxCount: fc.constantFrom(1, 0, -1, 'two'),
    $tb: fc.constantFrom(1, -5, 1.5, '1'),
    $maxAge: fc.constantFrom(0, -3, 'long'),
    $cacheControl: fc.constantFrom(10, 'none'),
    $acl: fc.constantFrom({ $r: 1 }, { other: 'x' }, 'all', null),
  },
  { requiredKeys: [] },
)
const oddTexts = [
  '',
  'xxxxx',
  '[]',
  'null',
  '{"$tb":1',
  '{"$maxCount":99999999999999999999}',
  '{"$tb":9223372036854775807,"kept":12345678901234567890}',
  '{ "$maxCount" : 2 , "a" : "\\u00e4\\n" }',
]
const metadataValue: fc.Arbitrary<MetadataIntent> = fc.record({
  properties: fc.oneof({ weight: 3, arbitrary: sensibleProperties }, { weight: 1, arbitrary: oddProperties }),
  truncateAtLast: fc.option(small(-3, 2), { nil: undefined, freq: 2 }),
  text: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...oddTexts) },
  ),
  json: fc.constantFrom(true, true, true, true, false),
  type: fc.constantFrom('$metadata', '$metadata', '$metadata', 'T'),
})
const settingMetadata = fc.record({
  do: fc.constant('set metadata' as const),
  stream: fc.constantFrom('a', 'a', 'b', 'c', 'l'),
  values: fc.oneof(
    { weight: 8, arbitrary: fc.array(metadataValue, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(metadataValue, { maxLength: 2 }) },
  ),
  ...sent,
})

const deleting = fc.record({
  do: fc.constant('delete' as const),
  stream: fc.constantFrom('a', 'a', 'a', 'b', 'b', 'c', 'c', '$$a'),
  expected,
})
const tombstoning = fc.record({ do: fc.constant('tombstone' as const), stream, expected })

const revision: fc.Arbitrary<RevisionIntent> = fc.oneof(
  fc.constantFrom('start' as const, 'end' as const),
  small(-4, 2).map((offset) => ({ offset })),
  fc.constantFrom({ revision: 0 }, { revision: 1 }, { revision: 99 }),
)
const position: fc.Arbitrary<PositionIntent> = fc.oneof(
  fc.constantFrom('start' as const, 'end' as const),
  fc.double({ min: 0, max: 1, noNaN: true }).map((share) => ({ share })),
)
const filter: fc.Arbitrary<Filter> = fc.constantFrom<Filter>(
  { by: 'stream', prefix: ['{P}'] },
  { by: 'stream', prefix: ['{P}a'] },
  { by: 'stream', prefix: ['{P}b', '$${P}'] },
  { by: 'stream', regex: '^{P}[ac]$' },
  { by: 'type', prefix: ['T'] },
  { by: 'type', prefix: ['$', 'U'] },
  { by: 'type', regex: '^[^$].*' },
  { by: 'type', prefix: ['nothing is called so'] },
)
const reading = {
  backwards: fc.boolean(),
  count: fc.oneof(
    { weight: 1, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: small(1, 5) },
    { weight: 6, arbitrary: fc.constantFrom(40, 1_000) },
  ),
  links: fc.boolean(),
}
const readingStream = fc.record({
  do: fc.constant('read stream' as const),
  stream: readableStream,
  from: revision,
  ...reading,
})
const readingLog = fc.record({
  do: fc.constant('read log' as const),
  from: position,
  filter: optional(filter),
  ...reading,
})

const subscribing = fc.record({
  do: fc.constant('subscribe' as const),
  stream: fc.oneof(fc.constant(undefined), stream, readableStream),
  revision,
  position,
  links: fc.boolean(),
  filter: optional(filter),
  window: fc.constantFrom(undefined, 1, 2, 3, 5),
  every: small(1, 3),
})

/** Weighted by repetition; tombstones are rare, because little can happen to a stream after one. */
export const intents: fc.Arbitrary<Intent>[] = [
  appending,
  appending,
  appending,
  repeating,
  repeating,
  repeating,
  linking,
  settingMetadata,
  settingMetadata,
  deleting,
  fc.oneof({ weight: 3, arbitrary: deleting }, { weight: 1, arbitrary: tombstoning }),
  readingStream,
  readingStream,
  readingLog,
  subscribing,
  subscribing,
]
