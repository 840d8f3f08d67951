// Lints the document with the OpenAPI ruleset of Spectral.
import { createLog } from '@paylog/runtime/telemetry/log'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import t from 'tap'
import { describeApi } from './describeApi.ts'

const document = await describeApi(createLog({ app: 'docs', level: 'silent' }))

/** @returns path and message of each finding */
async function findings(subject: object): Promise<readonly string[]> {
  const linter = new spectral.Spectral()
  linter.setRuleset({
    extends: [[oas as RulesetDefinition, 'recommended']],
    rules: {
      // The operator of the service is the contact.
      'info-contact': 'off',
    },
  })
  const results = await linter.run(JSON.stringify(subject))
  return results.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)
}

t.test('the OpenAPI document has no lint errors or warnings', async (t) => {
  t.same(await findings(document), [])
})

t.test('the lint rules report a broken document', async (t) => {
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
