// Lints the document with the recommended rules of Redocly.
import { createLog } from '@paylog/runtime/telemetry/log'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import { describeApi } from './describeApi.ts'

const document = JSON.stringify(await describeApi(createLog({ app: 'docs', level: 'silent' })))

/** @returns rule, path and message of each error and warning */
async function findings(source: string): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' })
  return problems.map(({ ruleId, location: [place], message }) => `${ruleId} at ${place?.pointer}: ${message}`)
}

t.test('the OpenAPI document has no lint errors or warnings', async (t) => {
  t.same(await findings(document), [])
})

t.test('the lint rules report a broken document', async (t) => {
  let text = document
  for (const [sound, broken] of [
    ['"operationId":"getPayment"', '"operationId":"listPayments"'],
    ['"url":"/"', '"url":"http://api.example.com/"'],
    ['"currency":"EUR","provider_id"', '"currency":5,"provider_id"'],
    ['"license":', '"x-license":'],
    ['#/components/schemas/Refund"', '#/components/schemas/Return"'],
    ['"security":[]', '"x-security":[]'],
  ] as const) {
    t.match(text, sound)
    text = text.replace(sound, broken)
  }
  const found = (await findings(text)).join('\n')
  for (const rule of [
    'operation-operationId-unique',
    'no-server-trailing-slash',
    'no-invalid-media-type-examples',
    'info-license',
    'no-unresolved-refs',
    'security-defined',
  ])
    t.match(found, `${rule} at`)
})
