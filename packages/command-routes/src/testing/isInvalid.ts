// What a request is told that is refused as malformed.
import type { Test } from 'tap'
import type { Answer } from './commandApiUnderTest.ts'

/** One character more than most texts may have. */
export const tooLong = 'x'.repeat(256)

/** Refused as malformed, naming these fields without their values. */
export function isInvalid(
  t: Test,
  { status, error, text }: Answer<unknown>,
  name: string,
  fields?: readonly string[],
): void {
  t.match({ status, error }, { status: 400, error: { code: 'invalid_request', message: /./ } }, name)
  if (fields === undefined) return
  const { fields: told } = Object(error?.details)
  t.same(
    told.map((each: { field: string }) => each.field),
    fields,
    `${name} is named`,
  )
  for (const { message } of told) t.match(message, /./)
  t.notMatch(text, tooLong)
}
