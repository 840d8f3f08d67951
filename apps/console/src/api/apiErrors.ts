// What the errors of the API client mean for the console.
import { PaylogConnectionError, PaylogError } from '@paylog/client/errors'

/** The status of an error response; 0 when there was no response, undefined for any other error. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof PaylogConnectionError) return 0
  return error instanceof PaylogError ? error.status : undefined
}

/** Whether the session is missing, unknown or expired. */
export const isUnauthenticated = (error: unknown): boolean => statusOf(error) === 401

/** Whether sending the same read again may help. */
export const isTemporary = (error: unknown): boolean => [0, 408, 429, 503].includes(statusOf(error) ?? -1)
