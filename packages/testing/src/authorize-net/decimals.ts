// Amounts in JSON as the provider writes them: numbers with their decimals, `5.00` and never `5`.

const mark = 'decimal:'

/** Stands for the number in what `toJson` writes. */
export function decimal(cents: number, places = 2): string {
  const digits = String(cents).padStart(3, '0')
  const exact = `${digits.slice(0, -2)}.${digits.slice(-2)}`
  return mark + (places < 2 && exact.endsWith('0') ? exact.slice(0, -1) : exact)
}

export function toJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"decimal:([0-9.]+)"/g, '$1')
}
