// Lints the document with the recommended rules of Redocly, and its patterns with another engine than JavaScript's.
import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLog } from '@paylog/runtime/telemetry/log'
import { findProgram } from '@paylog/testing/findProgram'
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

const go = await findProgram(['go'], process.env.PATH)
const needsGo = { skip: go === undefined && 'needs go: patterns NOT TESTED with a second engine' }

/** Go's engine is RE2. It prints the patterns that it refuses. */
const refusedPatterns = `package main
import ("encoding/json"; "fmt"; "os"; "regexp")
func main() {
  var patterns []string
  if err := json.Unmarshal([]byte(os.Args[1]), &patterns); err != nil { panic(err) }
  for _, pattern := range patterns {
    if _, err := regexp.Compile(pattern); err != nil { fmt.Println(pattern) }
  }
}`

t.test('every pattern of the document is one that RE2 reads', needsGo, async (t) => {
  const patterns = new Set<string>()
  for (const [, pattern] of document.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)) patterns.add(JSON.parse(pattern ?? ''))
  t.ok(patterns.size > 5)
  const wrong = String.raw`^[^\u0000]*$`
  const directory = t.testdir({ 'main.go': refusedPatterns })
  const env = { PATH: process.env.PATH, HOME: homedir() }
  const args = ['run', join(directory, 'main.go'), JSON.stringify([...patterns, wrong])]
  const { stdout } = await promisify(execFile)(go ?? '', args, { env })
  t.equal(stdout.trim(), wrong)
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
