// The one logger of a process: JSON lines on standard output, secrets removed at the root.
import { trace } from '@opentelemetry/api'
import { type LogFn, pino } from 'pino'

export type Logger = pino.Logger

// What must not reach a log under any key that might carry it. Wildcards look one level deep each: pino looks for every
// path within every field of a line, and a deeper wildcard would cost every log line.
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

/** What is told of an error. Anything else may hold data: Postgres adds the whole row that it refused. */
const errorFieldNames = [
  'type',
  'message',
  'stack',
  'code',
  'kind',
  'syscall',
  'address',
  'port',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
]

function errorFields(error: Error): Record<string, unknown> {
  const all = new Map(Object.entries(pino.stdSerializers.err(error)))
  return Object.fromEntries(
    errorFieldNames.filter((field) => all.has(field)).map((field) => [field, withoutUrlSecrets(all.get(field))]),
  )
}

const urls = /\b(?!file:|node:)([a-z][a-z0-9+.-]*:\/\/)(?:[^\s"'`]*@)?([^\s"'`/?#),;]*)[^\s"'`),;]*/gi

/**
 * Cuts URLs to scheme, host and port: passwords stand in them, keys of endpoints and of providers, people's data.
 * @param value what an error says; anything but a text stays as it is
 */
export function withoutUrlSecrets<Value>(value: Value): Value | string {
  return typeof value === 'string' ? value.replaceAll(urls, '$1$2') : value
}

/** Of an error that comes without words, pino would take the whole message for them. */
function logErrorMessage(this: Logger, args: Parameters<LogFn>, write: LogFn): void {
  const [given, words]: readonly unknown[] = args
  const about = given instanceof Error ? { err: given } : given
  if (words === undefined && hasError(about) && about.err instanceof Error)
    write.call(this, about, withoutUrlSecrets(about.err.message))
  else write.apply(this, args)
}

const hasError = (value: unknown): value is { readonly err: unknown } =>
  typeof value === 'object' && value !== null && 'err' in value

/** Which trace a line belongs to, as far as there is one. */
function activeTrace(): { traceId?: string } {
  const span = trace.getActiveSpan()
  return span === undefined ? {} : { traceId: span.spanContext().traceId }
}

/**
 * @param options `app` is written on every line; `level` is pino's, `info` when left out
 * @param destination where the lines go, standard output when left out
 */
export function createLog(
  { app, level = 'info' }: { app: string; level?: string },
  destination: pino.DestinationStream = lineOutput(1),
): Logger {
  // What is logged about must not fail because its line cannot be written: a full disk, a log reader that has gone.
  let failedWrites = 0
  const write = (line: string) => {
    try {
      destination.write(line)
    } catch {
      failedWrites += 1
      return
    }
    if (failedWrites === 0) return
    const failed_writes = failedWrites
    failedWrites = 0
    log.warn({ failed_writes }, 'log lines could not be written for a while; some may be missing')
  }
  const log = pino(
    {
      level,
      base: { app },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields },
      mixin: activeTrace,
      hooks: { logMethod: logErrorMessage },
      redact: { paths: redactedPaths, censor: '[redacted]' },
    },
    { write },
  )
  return log
}

/**
 * The same log with nothing removed, for lines that are written for each request: looking for secrets costs many times
 * what writing a line does. Only for fields that the caller makes itself, never for an error or anything that came in.
 */
export function withoutRedaction(log: Logger): Logger {
  return log.child({}, { redact: [] })
}

/** As much is kept while it cannot be written. */
const maxWaitingBytes = 1024 * 1024

/**
 * Lines to a file descriptor. `write` throws when a line cannot be written, and keeps it for the next time as far as
 * there is room.
 */
export function lineOutput(descriptor: number): pino.DestinationStream {
  // Written before the next statement runs: with pino's default, the last lines before an exit come out of order.
  return pino.destination({ dest: descriptor, sync: true, maxLength: maxWaitingBytes })
}
