// The one logger of a process: JSON lines on standard output, secrets removed at the root.
import { pino } from 'pino'

export type Logger = pino.Logger

// What must not reach a log under any key that might carry it. Wildcards look one level deep each: pino compiles these
// paths, and a deeper wildcard would cost every log line.
const secretFields = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  'guest_token',
  'session_id',
  'sessionId',
  'client_secret',
  'guest_data',
  'email',
  'phone',
  'line1',
  'line2',
  'postal_code',
  'card',
  'number',
  'cvv',
]
const secretHeaders = ['authorization', 'cookie', 'set-cookie', 'x-session-id', 'x-guest-token', 'x-api-key']

const redactedPaths = [
  ...secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
  ...secretHeaders.flatMap((header) => [
    ...(header.includes('-') ? [`["${header}"]`, `*["${header}"]`] : []),
    `headers["${header}"]`,
    `*.headers["${header}"]`,
  ]),
]

/**
 * @param options `app` is written on every line; `level` is pino's, `info` when left out
 * @param destination where the lines go, standard output when left out
 */
export function createLog(
  { app, level = 'info' }: { app: string; level?: string },
  destination: pino.DestinationStream = standardOutput(),
): Logger {
  return pino(
    {
      level,
      base: { app },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: '[redacted]' },
    },
    destination,
  )
}

// Written before the next statement runs: with pino's default, the last lines before an exit come out of order.
function standardOutput(): pino.DestinationStream {
  return pino.destination({ dest: 1, sync: true })
}
