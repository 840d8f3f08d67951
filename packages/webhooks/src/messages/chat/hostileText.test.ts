// Random untrusted text: the chat bodies stay within the services' limits, are well-formed and contain no foreign markup.
import fc from 'fast-check'
import t from 'tap'
import { chatSamples } from '../../testing/chatSamples.ts'
import { bareFacts, customerNamed } from '../../testing/eventFixtures.ts'
import type { NamedFacts } from '../webhookFacts.ts'
import { type ChatService, chatBody, chatServices } from './chatServices.ts'

const markup = [
  '<!channel>',
  '<@U1>',
  '@here',
  '&',
  '&amp;',
  '*',
  '_',
  '`',
  '```',
  '[x](y)',
  '</code>',
  '1. ',
  '- ',
  '\\',
]
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...markup, '\n', '\u0000', '\u202e', '😀', '\ud83d', 'https://evil.example', 'www.evil.example'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    ),
    { maxLength: 400, size: 'max' },
  )
  .map((parts) => parts.join(''))
const repeated = fc.tuple(fc.constantFrom(...markup, '"', "'", '😀', '\u0800'), fc.integer({ min: 1, max: 2_000 }))
const anyText = fc.oneof(
  hostileText,
  repeated.map(([text, times]) => text.repeat(times)),
)
const dispute = fc.record({
  id: fc.uuid(),
  amount: fc.option(fc.nat()),
  status: fc.constant('open' as const),
  reason: fc.option(anyText),
  evidence_due_by: fc.constant('2026-01-12T23:59:59.000Z'),
})
const facts = fc.record({
  event: anyText,
  provider: anyText,
  timestamp: fc.oneof(anyText, fc.constant('2026-01-02T03:04:05.678Z')),
  amount: fc.option(fc.integer({ min: -999_999_999_999, max: 999_999_999_999 })),
  currency: fc.option(fc.oneof(anyText, fc.constant('USD'))),
  user: fc.option(anyText).map((email) => customerNamed(email).user),
  status: fc.option(anyText),
  payment_id: fc.option(anyText),
  is_test: fc.boolean(),
})
const anyFacts: fc.Arbitrary<NamedFacts> = fc
  .tuple(facts, fc.option(dispute, { nil: undefined }))
  .map(([known, dispute]) => ({ ...bareFacts, ...known, ...(dispute && { dispute }) }))

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

const unescaped = /[<>]|&(?!(amp|lt|gt|quot|#39);)/
const withoutEscapes = (text: string) => text.replaceAll(/\\[^a-z0-9\s]/gi, '')
const markdown = /[*_~`|<>#[\]()]/
type Valued = { readonly value: string }
type Line = { readonly type: string; readonly inlines: readonly { readonly type: string; readonly text: string }[] }

/** What holds for the body of each service with any text: no foreign markup or mentions, and its limits. */
const holds: Readonly<Record<ChatService, (body: string, texts: readonly string[]) => boolean>> = {
  slack(body, texts) {
    const { text, blocks } = JSON.parse(body)
    return (
      texts.every((each) => !unescaped.test(each) && each.length <= 2_000) &&
      /^[\p{L}\p{N} .:-]{1,3000}$/u.test(text) &&
      blocks[0].text.text.length <= 150 &&
      !JSON.stringify(blocks).includes('"mrkdwn"')
    )
  },
  discord(body) {
    const { embeds, allowed_mentions } = JSON.parse(body)
    const [{ title, fields }] = embeds
    return (
      title.length <= 256 &&
      fields.every(({ value }: Valued) => value.length <= 1_024 && !markdown.test(withoutEscapes(value))) &&
      textsOf(embeds).join('').length <= 6_000 &&
      allowed_mentions.parse.length === 0
    )
  },
  teams(body) {
    const [heading, ...lines] = JSON.parse(body).attachments[0].content.body
    const isPlain = ({ type, inlines }: Line) =>
      type === 'RichTextBlock' && inlines.every((run) => run.type === 'TextRun' && !run.text.includes('{{'))
    return /^[\p{L}\p{N} :]+$/u.test(heading.text) && lines.every(isPlain)
  },
  'google-chat': (_, texts) => texts.every((text) => !unescaped.test(text) && !/["']/.test(text)),
  mattermost(body) {
    const [{ fields }] = JSON.parse(body).attachments
    return fields.every(
      ({ value }: Valued) =>
        !/(^|[^\p{L}\p{N}])@[^\u200b]/u.test(value) &&
        !/:\/\/|www\./i.test(value) &&
        !markdown.test(withoutEscapes(value)),
    )
  },
  telegram(body) {
    const { text } = JSON.parse(body)
    const [title = '', ...facts] = text.split('\n')
    const shown = text.replaceAll(/<\/?(b|code)>/g, '').replaceAll(/&\w+;/g, '&')
    return (
      /^<b>[^<>&]+<\/b>$/.test(title) &&
      facts.every((fact: string) => /^[A-Z][a-z]+: <code>([^<>&]|&(amp|lt|gt);)+<\/code>$/.test(fact)) &&
      shown.length <= 4_096
    )
  },
}

for (const service of chatServices)
  t.test(
    `${service}: a body with random text is well-formed, without foreign markup and within the limits`,
    async () => {
      const { url, maxBytes } = chatSamples[service]
      fc.assert(
        fc.property(anyFacts, (facts) => {
          const body = chatBody(service, facts, new URL(url))
          const texts = textsOf(JSON.parse(body))
          return (
            body.isWellFormed() &&
            Buffer.byteLength(body) <= maxBytes &&
            texts.every((text) => text !== '' && text.isWellFormed() && !/[\0\u202e\u2028]/.test(text)) &&
            texts.some((text) => text.includes('Test: ')) === facts.is_test &&
            holds[service](body, texts)
          )
        }),
        { numRuns: 300 },
      )
    },
  )

t.test('Slack: the variables of a workflow hold no markup, with any text', async () => {
  const trigger = new URL('https://hooks.slack.com/triggers/T0/1/abc')
  fc.assert(
    fc.property(
      anyFacts,
      (facts) => !textsOf(JSON.parse(chatBody('slack', facts, trigger))).some((text) => unescaped.test(text)),
    ),
    { numRuns: 300 },
  )
})
