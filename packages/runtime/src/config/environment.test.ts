import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { ConfigError, loadConfig, readVariableFiles, withOverrides } from './environment.ts'
import { ageMs, bool, commaList, durationMs, integer, oneOf, port, text, url } from './kinds.ts'

const schema = Type.Object({
  PORT: port(8080),
  MAX: integer(1, 10, 5),
  ENABLED: bool(true),
  TIMEOUT: durationMs('5s'),
  ORIGINS: commaList([]),
  MODE: oneOf(['raw', 'canonical'], 'raw'),
  API: Type.Optional(url(['http', 'https'])),
  KEY: text(),
})

function messageOf(environment: NodeJS.ProcessEnv): string {
  try {
    loadConfig(schema, environment)
    return 'no error'
  } catch (error) {
    return error instanceof ConfigError ? error.message : `another error: ${error}`
  }
}

t.test('unset and empty variables get their defaults, and optional ones are left out', async (t) => {
  const config = loadConfig(schema, { KEY: 'k', PORT: '', API: '', OTHER: 'x' })
  t.strictSame(config, {
    PORT: 8080,
    MAX: 5,
    ENABLED: true,
    TIMEOUT: 5_000,
    ORIGINS: [],
    MODE: 'raw',
    KEY: 'k',
  })
})

t.test('variables that are set are decoded to their types', async (t) => {
  const config = loadConfig(schema, {
    KEY: ' k ',
    PORT: '0',
    MAX: '10',
    ENABLED: 'false',
    TIMEOUT: '2m',
    ORIGINS: ' a , ,b',
    MODE: 'canonical',
    API: 'https://api.example.com',
  })
  const own = { KEY: ' k ', PORT: 0, MAX: 10, ENABLED: false, TIMEOUT: 120_000, MODE: 'canonical' }
  t.match(config, { ...own, API: 'https://api.example.com' })
  t.strictSame(config.ORIGINS, ['a', 'b'])
})

t.test('a bad configuration is reported in one line that names every bad variable and shows no value', async (t) => {
  const message = messageOf({
    PORT: '65536',
    MAX: '11',
    ENABLED: 'secret-yes',
    TIMEOUT: '5 secret',
    MODE: 'secret',
    API: 'ftp://secret',
  })
  for (const name of ['PORT', 'MAX', 'ENABLED', 'TIMEOUT', 'MODE', 'API', 'KEY is required']) {
    t.ok(message.includes(name), `names ${name}`)
  }
  t.notMatch(message, /secret|\n/)
})

t.test('malformed ports, booleans, durations and URLs are rejected', async (t) => {
  const bad: Record<string, string[]> = {
    PORT: ['-1', '80.5', '8e3', '0x50', ' 80', '80 '],
    ENABLED: ['1', '0', 'yes', 'TRUE'],
    TIMEOUT: ['-1', '1.5s', '25d', 's', '597h', '5s,5s'],
    API: ['example.com', 'javascript:alert(1)', '//example.com', 'http://'],
  }
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values)
      t.match(messageOf({ KEY: 'k', [name]: value }), `Bad configuration: ${name}`, `${name}=${value}`)
  }
})

t.test('the decoded configuration is frozen', async (t) => {
  const config = loadConfig(schema, { KEY: 'k' })
  t.ok(Object.isFrozen(config))
  t.ok(Object.isFrozen(config.ORIGINS))
})

t.test('an age may be longer than a timer can be, up to 3650 days', async (t) => {
  const ages = Type.Object({ KEPT: ageMs('90d') })
  t.strictSame(loadConfig(ages, {}), { KEPT: 7_776_000_000 })
  t.strictSame(loadConfig(ages, { KEPT: '0' }), { KEPT: 0 })
  for (const KEPT of ['3651d', 'ever', '-1d']) t.throws(() => loadConfig(ages, { KEPT }), { message: /KEPT must be/ })
})

/** Writes the files to a temporary directory. @returns a function from name to path */
async function writeFiles<Name extends string>(t: Test, contents: Readonly<Record<Name, string>>) {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-config-'))
  t.teardown(() => rm(directory, { recursive: true }))
  for (const [name, content] of Object.entries<string>(contents)) await writeFile(join(directory, name), content)
  return (name: Name | 'missing' | '') => join(directory, name)
}

t.test('any variable can be read from a file, and one trailing newline is dropped', async (t) => {
  const contents = { plain: 'k', line: 'k\n', windows: 'k\r\n', lines: 'k\n\n', port: '0\n', 'not-ascii ä': ' k ' }
  const path = await writeFiles(t, contents)
  const keyOf = (name: keyof typeof contents) => loadConfig(schema, { KEY_FILE: path(name) }).KEY
  t.equal(keyOf('plain'), 'k')
  t.equal(keyOf('line'), 'k')
  t.equal(keyOf('windows'), 'k')
  t.equal(keyOf('lines'), 'k\n', 'only one newline is dropped')
  t.equal(keyOf('not-ascii ä'), ' k ')
  t.equal(loadConfig(schema, { KEY: 'k', PORT_FILE: path('port') }).PORT, 0)
  t.equal(
    loadConfig(schema, { KEY: 'k', KEY_FILE: '', OTHER_FILE: path('missing') }).KEY,
    'k',
    'unknown _FILE variables are ignored',
  )
  t.equal(loadConfig(schema, { KEY: '', KEY_FILE: path('plain') }).KEY, 'k', 'an empty variable is not set')
})

t.test('an unusable file is reported once, without its path or content', async (t) => {
  const path = await writeFiles(t, { empty: '', newline: '\n', secret: 'secret' })
  t.equal(messageOf({ KEY_FILE: path('missing') }), 'Bad configuration: KEY_FILE names a file that does not exist')
  t.equal(
    messageOf({ KEY_FILE: path('') }),
    'Bad configuration: KEY_FILE names a directory in place of a file: write the file, and create the container again',
  )
  for (const name of ['empty', 'newline'] as const)
    t.equal(messageOf({ KEY: '', KEY_FILE: path(name) }), 'Bad configuration: KEY_FILE names an empty file')
  t.equal(messageOf({ KEY: 'k', KEY_FILE: path('secret') }), 'Bad configuration: KEY and KEY_FILE are both set')
  t.equal(
    messageOf({ KEY: 'k', API_FILE: path('empty') }),
    'Bad configuration: API_FILE names an empty file',
    'optional',
  )
  const message = messageOf({ KEY_FILE: path('missing'), PORT_FILE: path('secret'), API_FILE: path('secret') })
  for (const name of ['KEY_FILE', 'PORT must', 'API must']) t.ok(message.includes(name), name)
  t.notMatch(message, /secret|paylog-config|\n/)
})

t.test('readVariableFiles replaces _FILE variables by the content of their files', async (t) => {
  const path = await writeFiles(t, { secret: 's\n' })
  const given = { HOOK_1_SECRET_FILE: path('secret'), HOOK_2_SECRET_FILE: path('missing'), OTHER_FILE: 'kept' }
  t.same(
    readVariableFiles(given, (name) => name.startsWith('HOOK_')),
    {
      env: { HOOK_1_SECRET: 's', OTHER_FILE: 'kept' },
      problems: ['HOOK_2_SECRET_FILE names a file that does not exist'],
    },
  )
})

t.test('an override replaces both NAME and NAME_FILE', async (t) => {
  const env = { A: '1', B_FILE: 'b', C: '3', D_FILE: 'd', E: '5' }
  t.same(withOverrides(env, { A_FILE: 'a', B: '2', C: '4', D_FILE: 'e' }), {
    A_FILE: 'a',
    B: '2',
    C: '4',
    D_FILE: 'e',
    E: '5',
  })
})
