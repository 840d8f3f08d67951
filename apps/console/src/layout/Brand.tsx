import { Link } from '@tanstack/react-router'
import { BrandMark } from './BrandMark.tsx'

/** The name of the product, which leads to the overview. */
export function Brand() {
  return (
    <Link to="/" className="brand">
      <BrandMark />
      Paylog
    </Link>
  )
}
