// What a request is told that is refused as malformed.
import type { Test } from 'tap'
import type { ApiResponse } from './commandApiUnderTest.ts'

/** One character more than most texts may have. */
export const tooLong = 'x'.repeat(256)

/** Refused as malformed, naming these fields without their values. */
export function assertInvalid(
  t: Test,
  { status, error, text }: ApiResponse<unknown>,
  name: string,
  fields?: readonly string[],
): void {
  t.match({ status, error }, { status: 400, error: { code: 'invalid_request', message: /./ } }, name)
  if (fields === undefined) return
  const { fields: reported } = Object(error?.details)
  t.same(
    reported.map((each: { field: string }) => each.field),
    fields,
    `${name} is named`,
  )
  for (const { message } of reported) t.match(message, /./)
  t.notMatch(text, tooLong)
}
