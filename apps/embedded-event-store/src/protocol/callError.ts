// Errors of calls, with the gRPC status and trailers that EventStoreDB's clients expect.
import { Metadata, status } from '@grpc/grpc-js'

/** A gRPC status to end a call with. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: status
  readonly details: string
  readonly metadata: Metadata

  constructor(code: status, details: string, trailers: Readonly<Record<string, string>> = {}) {
    super(details)
    this.code = code
    this.details = details
    this.metadata = new Metadata()
    for (const [key, value] of Object.entries(trailers)) this.metadata.set(key, value)
  }
}

export function unavailable(details: string): CallError {
  return new CallError(status.UNAVAILABLE, details)
}

export function unauthenticated(): CallError {
  return new CallError(status.UNAUTHENTICATED, 'The credentials are missing or wrong')
}

export function invalidArgument(details: string): CallError {
  return new CallError(status.INVALID_ARGUMENT, details)
}

/** The status that EventStoreDB returns when a request causes an internal exception. */
export function unknown(details: string): CallError {
  return new CallError(status.UNKNOWN, details)
}

export function streamDeleted(stream: string): CallError {
  return namingStream(stream, `Event stream '${stream}' is deleted.`, 'stream-deleted')
}

export function wrongExpectedVersion(stream: string, expected: bigint, current: bigint): CallError {
  return namingStream(
    stream,
    `Append failed due to WrongExpectedVersion. Stream: ${stream}`,
    'wrong-expected-version',
    {
      'expected-version': String(expected),
      'actual-version': String(current),
    },
  )
}

export function maximumAppendSizeExceeded(maxAppendBytes: number): CallError {
  return new CallError(status.INVALID_ARGUMENT, `Maximum append size of ${maxAppendBytes} exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(maxAppendBytes),
  })
}

export function missingMetadataProperty(): CallError {
  return new CallError(status.INVALID_ARGUMENT, 'Required metadata properties are missing.', {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': 'type,content-type',
  })
}

/** A limit that EventStoreDB does not have. */
export function tooManyPendingBytes(): CallError {
  return new CallError(status.RESOURCE_EXHAUSTED, 'Too many bytes in unfinished appends')
}

/** EventStoreDB has no such reply: it ends when its disk is full. Our client recognises the text. */
export const noSpace = 'No space is left on the disk of the log; nothing was written'

export function outOfSpace(): CallError {
  return new CallError(status.RESOURCE_EXHAUSTED, noSpace)
}

export function timedOut(): CallError {
  return new CallError(status.ABORTED, 'The operation timed out.')
}

/** Trailers are ASCII: for another stream name, EventStoreDB returns UNKNOWN without trailers. */
function namingStream(
  stream: string,
  details: string,
  exception: string,
  trailers: Readonly<Record<string, string>> = {},
): CallError {
  if (!/^[\x20-\x7e]*$/.test(stream)) return unknown('The stream name cannot be sent in a trailer.')
  return new CallError(status.FAILED_PRECONDITION, details, { exception, 'stream-name': stream, ...trailers })
}
