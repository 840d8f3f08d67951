// The logger of a process: JSON lines on standard output, with secrets removed.
import { trace } from '@opentelemetry/api'
import { type LogFn, pino } from 'pino'

export type Logger = pino.Logger

// Fields that must not reach a log. Each wildcard covers one level; deeper ones would slow down every log line, because pino
// searches for every path.
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

/** The logged fields of an error. Others may hold data: Postgres adds the whole row that it rejected. */
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
 * Cuts URLs to scheme, host and port, because they may contain passwords, keys and personal data.
 * @param value returned unchanged unless it is a string
 */
export function withoutUrlSecrets<Value>(value: Value): Value | string {
  return typeof value === 'string' ? value.replaceAll(urls, '$1$2') : value
}

/** Without a message, pino would log the unredacted message of the error. */
function logErrorMessage(this: Logger, args: Parameters<LogFn>, write: LogFn): void {
  const [given, message]: readonly unknown[] = args
  const fields = given instanceof Error ? { err: given } : given
  if (message === undefined && hasError(fields) && fields.err instanceof Error)
    write.call(this, fields, withoutUrlSecrets(fields.err.message))
  else write.apply(this, args)
}

const hasError = (value: unknown): value is { readonly err: unknown } =>
  typeof value === 'object' && value !== null && 'err' in value

/** The trace id of the active span, if any. */
function activeTrace(): { traceId?: string } {
  const span = trace.getActiveSpan()
  return span === undefined ? {} : { traceId: span.spanContext().traceId }
}

/**
 * @param options `app` is written on every line; `level` is a pino level
 * @param destination default: standard output
 */
export function createLog(
  { app, level = 'info' }: { app: string; level?: string },
  destination: pino.DestinationStream = lineOutput(1),
): Logger {
  // A line that cannot be written (full disk, closed pipe) must not fail the work that logs it.
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
 * The same log without redaction, for lines that are written for each request: redaction costs many times as much as
 * writing a line. Only for fields that the caller creates itself, never for errors or input.
 */
export function withoutRedaction(log: Logger): Logger {
  return log.child({}, { redact: [] })
}

/** Limit of unwritten lines in memory. */
const maxWaitingBytes = 1024 * 1024

/**
 * Writes lines to a file descriptor. `write` throws when a line cannot be written, and keeps it for the next write, up to
 * `maxWaitingBytes`.
 */
export function lineOutput(descriptor: number): pino.DestinationStream {
  // Synchronous: with pino's default, the last lines before an exit come out of order.
  return pino.destination({ dest: descriptor, sync: true, maxLength: maxWaitingBytes })
}
