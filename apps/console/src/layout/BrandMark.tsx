/** The sign of the product: a page of a log. */
export function BrandMark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect className="brandMark" width="32" height="32" rx="8" />
      <path className="brandLines" d="M9 9.5h14M9 16h14M9 22.5h8" />
    </svg>
  )
}
