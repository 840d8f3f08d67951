// Unknown fields of a body are dropped, here as everywhere, but for those that can only be meant as one of the options: a
// dry run that is spelt in another way would be a real one.
import { DomainError } from '@paylog/domain/errors'

const options = ['product_ids', 'provider_id', 'force', 'dryRun', 'updatePrices']
const normalized = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '')
const optionByName = new Map(options.map((option) => [normalized(option), option]))

/** @throws DomainError `invalid_request` for a field such as `dry_run` */
export function rejectMisspeltOptions(body: unknown): void {
  if (typeof body !== 'object' || body === null) return
  const fields = Object.keys(body).flatMap((field) => {
    const option = optionByName.get(normalized(field))
    return option === undefined || option === field
      ? []
      : [{ field: option, message: 'is spelt like this and in no other way' }]
  })
  const [first] = fields
  if (first) throw new DomainError('invalid_request', `${first.field} ${first.message}`, { fields })
}
