import t from 'tap'
import { Type } from 'typebox'
import {
  ageMs,
  bool,
  ConfigError,
  commaList,
  durationListMs,
  durationMs,
  integer,
  loadConfig,
  oneOf,
  port,
  text,
  url,
} from './config.ts'

const schema = Type.Object({
  PORT: port(8080),
  MAX: integer(1, 10, 5),
  ENABLED: bool(true),
  TIMEOUT: durationMs('5s'),
  SCHEDULE: durationListMs(['5s', '10s']),
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

t.test('fills in defaults for what is unset or empty, and leaves out what is optional', async (t) => {
  const config = loadConfig(schema, { KEY: 'k', PORT: '', API: '', OTHER: 'x' })
  t.strictSame(config, {
    PORT: 8080,
    MAX: 5,
    ENABLED: true,
    TIMEOUT: 5_000,
    SCHEDULE: [5_000, 10_000],
    ORIGINS: [],
    MODE: 'raw',
    KEY: 'k',
  })
})

t.test('decodes what is set', async (t) => {
  const config = loadConfig(schema, {
    KEY: ' k ',
    PORT: '0',
    MAX: '10',
    ENABLED: 'false',
    SCHEDULE: '500ms, 2m,1h,7',
    ORIGINS: ' a , ,b',
    MODE: 'canonical',
    API: 'https://api.example.com',
  })
  t.match(config, { KEY: ' k ', PORT: 0, MAX: 10, ENABLED: false, MODE: 'canonical', API: 'https://api.example.com' })
  t.strictSame(config.SCHEDULE, [500, 120_000, 3_600_000, 7])
  t.strictSame(config.ORIGINS, ['a', 'b'])
})

t.test('names every bad variable in one line and shows no value', async (t) => {
  const message = messageOf({
    PORT: '65536',
    MAX: '11',
    ENABLED: 'secret-yes',
    TIMEOUT: '5 secret',
    SCHEDULE: '5s,secret',
    MODE: 'secret',
    API: 'ftp://secret',
  })
  for (const name of ['PORT', 'MAX', 'ENABLED', 'TIMEOUT', 'SCHEDULE', 'MODE', 'API', 'KEY is required']) {
    t.ok(message.includes(name), `names ${name}`)
  }
  t.notMatch(message, /secret|\n/)
})

t.test('takes nothing that only looks like a value', async (t) => {
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

t.test('cannot be changed', async (t) => {
  const config = loadConfig(schema, { KEY: 'k' })
  t.ok(Object.isFrozen(config))
  t.ok(Object.isFrozen(config.SCHEDULE))
})

t.test('an age may be longer than a timer, within bounds', async (t) => {
  const ages = Type.Object({ KEPT: ageMs('90d') })
  t.strictSame(loadConfig(ages, {}), { KEPT: 7_776_000_000 })
  t.strictSame(loadConfig(ages, { KEPT: '0' }), { KEPT: 0 })
  for (const KEPT of ['3651d', 'ever', '-1d']) t.throws(() => loadConfig(ages, { KEPT }), { message: /KEPT must be/ })
})
