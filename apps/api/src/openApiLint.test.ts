// The document as Spectral's rules for OpenAPI see it.
import { createLog } from '@paylog/runtime/telemetry/log'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import t from 'tap'
import { describeApi } from './describeApi.ts'

const document = await describeApi(createLog({ app: 'docs', level: 'silent' }))

/** @returns what the ruleset has against a document: where, and what */
async function findings(subject: object): Promise<readonly string[]> {
  const linter = new spectral.Spectral()
  linter.setRuleset({
    extends: [[oas as RulesetDefinition, 'recommended']],
    rules: {
      // Whom to ask is for the operator to say, whose service it is.
      'info-contact': 'off',
    },
  })
  const results = await linter.run(JSON.stringify(subject))
  return results.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)
}

t.test('the document has neither an error nor a warning', async (t) => {
  t.same(await findings(document), [])
})

t.test('the rules find what is wrong', async (t) => {
  let text = JSON.stringify(document)
  for (const [sound, broken] of [
    ['"operationId":"getPayment"', '"operationId":"listPayments"'],
    ['"url":"/"', '"url":"http://api.example.com/"'],
    ['"currency":"EUR","provider_id"', '"currency":5,"provider_id"'],
  ] as const) {
    t.match(text, sound)
    text = text.replace(sound, broken)
  }
  const found = (await findings(JSON.parse(text))).join('\n')
  for (const rule of ['operation-operationId-unique', 'oas3-server-trailing-slash', 'oas3-valid-media-example'])
    t.match(found, rule)
})
