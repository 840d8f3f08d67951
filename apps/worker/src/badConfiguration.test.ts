import { startProcess } from '@paylog/testing/processes'
import t from 'tap'

const script = new URL('./main.ts', import.meta.url)

/** The output of a worker that fails to start. */
async function startError(env: Readonly<Record<string, string>>): Promise<string> {
  try {
    await startProcess(t, { script, env })
  } catch (error) {
    if (error instanceof Error) return error.message
    throw error
  }
  throw new Error('It started')
}

t.test('a bad configuration ends the worker at start with one message that names every bad variable', async (t) => {
  const bad = {
    EVENTSTORE_URL: 'http://hidden.example',
    PII_MASTER_KEY: 'hidden',
    WEBHOOK_SUCCESS_STATUS: 'hidden',
    EXTERNAL_WEBHOOK_URLS: 'https://example.com,hidden',
    EXTERNAL_WEBHOOK_EVENTS: 'hid*den',
    EXTERNAL_WEBHOOK_TIMEOUT: 'hidden',
    WEBHOOK_1_URL: 'https://user:hidden@example.com',
    WEBHOOK_1_EVENT_MODE: 'hidden',
    WEBHOOK_1_FORMAT: 'hidden',
    WEBHOOK_1_SECRET: 'whsec_hidden',
    WEBHOOK_1_RETRIES: 'hidden',
    WEBHOOK_2_ENABLED: 'hidden',
    WEBHOOK_3_URL: 'https://api.telegram.org/bothidden/sendMessage',
    WEBHOOK_11_ENABLED: 'true',
  }
  const output = await startError({ ...bad, WEBHOOK_1_ENABLED: 'true', WEBHOOK_3_ENABLED: 'true' })
  t.match(output, 'ended (1) before it was ready')
  const messages = output.split('\n').filter((line) => line.includes('Bad configuration'))
  t.equal(messages.length, 1)
  const named = messages[0]
    ?.split('Bad configuration: ')[1]
    ?.split('; ')
    .map((sentence) => sentence.split(' ')[0])
  t.strictSame(named?.sort(), ['DATABASE_URL', ...Object.keys(bad)].sort())
  t.notMatch(output, /hid(?:den|\*)/, 'the message contains no values')
})

t.test('a configuration warning is logged and does not stop the worker', async (t) => {
  const doubtful = { WEBHOOK_1_URL: 'http://127.0.0.1:9/hidden', WEBHOOK_1_EVENTS: 'payments.*' }
  const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:9/paylog', EVENTSTORE_URL: 'esdb://127.0.0.1:9?tls=false' }
  const output = await startError({ ...nowhere, ...doubtful, WEBHOOK_1_ENABLED: 'true' })
  t.match(
    output,
    'Configuration warning: WEBHOOK_1_EVENTS has a pattern (number 1) that matches no event of a canonical endpoint',
  )
  t.match(output, 'ECONNREFUSED', 'it stops because the database is down')
  t.notMatch(output, 'hidden')
})
