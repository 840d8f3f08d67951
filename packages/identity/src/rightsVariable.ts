// Reads RIGHTS, such as `support=read,refund:50000; auditor=read,export`: the rights of user types.
import { maxAmountCents } from '@paylog/domain/money'
import { type GrantedRights, type Right, rights } from '@paylog/domain/rights'
import { BadVariable } from '@paylog/runtime/config/kinds'

/**
 * Blanks and empty entries are dropped. User types and rights are taken as they are written, upper and lower case.
 * @returns the rights by user type
 * @throws BadVariable, with the number of the entry, for a user type without rights or named twice, an unknown right or one named
 *   twice, and a limit of anything but refunds, or that is no amount
 */
export function parseRights(text: string): ReadonlyMap<string, GrantedRights> {
  const granted = new Map<string, GrantedRights>()
  const entries = splitAt(';', text)
  for (const [index, entry] of entries.entries()) {
    const fail = (expected: string) => new BadVariable(`must ${expected} (entry ${index + 1} of ${entries.length})`)
    const [userType = '', list, ...rest] = entry.split('=').map((part) => part.trim())
    const words = splitAt(',', list ?? '')
    if (userType === '' || words.length === 0 || rest.length > 0)
      throw fail('have a user type, = and its rights in each entry, such as support=read,refund:50000; auditor=read')
    if (granted.has(userType)) throw fail('name a user type only once')
    granted.set(userType, rightsOf(words, fail))
  }
  return granted
}

function rightsOf(words: readonly string[], fail: (expected: string) => BadVariable): GrantedRights {
  const found: Right[] = []
  let refund_limit_cents: number | null = null
  for (const word of words) {
    const [name = '', ...limits] = word.split(':').map((part) => part.trim())
    const right = rights.find((each) => each === name)
    if (right === undefined) throw fail(`have no other rights than ${rights.join(', ')}`)
    if (found.includes(right)) throw fail('name a right only once for a user type')
    found.push(right)
    if (limits.length === 0) continue
    if (right !== 'refund') throw fail('have a limit for refund alone')
    refund_limit_cents = limits.length === 1 ? limitOf(limits[0] ?? '') : null
    if (refund_limit_cents === null)
      throw fail(
        `have as the limit of refund a whole number from 1 to ${maxAmountCents}, such as refund:50000 for 500.00`,
      )
  }
  return { rights: found, refund_limit_cents }
}

const limitOf = (text: string): number | null => {
  const limit = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= maxAmountCents ? limit : null
}

const splitAt = (separator: string, text: string): readonly string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
